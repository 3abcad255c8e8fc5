import type { FastifyRequest } from 'fastify';

/** Whether a browser asks: it names HTML. Programs name JSON or nothing. */
export function prefersHtml({ headers: { accept = '' } }: Pick<FastifyRequest, 'headers'>): boolean {
  const qualities = new Map(accept.toLowerCase().split(',').map(qualityOf));
  const [html = 0, json = 0] = ['text/html', 'application/json'].map((type) => qualities.get(type));
  return html > json;
}

/** A media range and its weight, by RFC 9110, 12.5.1. */
function qualityOf(range: string): [type: string, quality: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, weight === undefined ? 1 : Number(weight.slice(2))];
}
