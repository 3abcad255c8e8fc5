import { parseHTML } from 'linkedom';
import type { Answer, Api } from './api.js';

/** As a form of a page is sent without a script. */
export const FORM = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };

/** Presses the button of a page. */
export const pressButton = (api: Api, path: string, from?: string): Promise<Answer> =>
  api.post(path, undefined, { raw: '', headers: FORM, from });

export const documentOf = ({ text }: Pick<Answer, 'text'>): Document => parseHTML(text).document;
export const textOf = (answer: Answer, selector = 'main'): string =>
  documentOf(answer).querySelector(selector)?.textContent ?? '';
export const textsOf = (answer: Answer, selector: string): string[] =>
  [...documentOf(answer).querySelectorAll(selector)].map(({ textContent }) => textContent);

export const statusPath = ({ id }: { readonly id: number }, { uuid }: { readonly uuid: string }): string =>
  `/waitlist/${id}/status/${uuid}`;
/** The path within a service that a proxy serves below `/lists`. */
export const within = (path: unknown): string => String(path).replace('/lists', '');
