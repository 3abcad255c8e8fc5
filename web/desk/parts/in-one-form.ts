import type { FocusEvent, KeyboardEvent } from 'react';

/** A typed text in the form that is saved. With a fault, the text as it was typed, and the sentence that says why. */
export interface Read {
  readonly text: string;
  readonly fault: string | null;
}

/** The part of a form of `@mantine/form` that the handlers need. */
export interface FaultForm {
  readonly setFieldValue: (path: string, value: string) => void;
  readonly setFieldError: (path: string, fault: string) => void;
}

type Field = HTMLInputElement | HTMLTextAreaElement;

let isPressed = false;
window.addEventListener('mousedown', () => (isPressed = true), true);
window.addEventListener('mouseup', () => (isPressed = false), true);

/** Handlers that change the text of a field into one form when it loses the focus, or show a fault beside it. */
export function inOneForm(form: FaultForm, path: string, read: (typed: string) => Read) {
  const bring = (field: Field) => {
    const { text, fault } = read(field.value);
    if (fault === null && text !== field.value) form.setFieldValue(path, text);
  };
  const judge = (field: Field) => {
    const { fault } = read(field.value);
    if (fault !== null) form.setFieldError(path, fault);
  };
  return {
    onBlur: ({ currentTarget: field }: FocusEvent<Field>) => {
      bring(field);
      // Before the click, its line would move the button away from under the pointer.
      if (isPressed) window.addEventListener('mouseup', () => setTimeout(() => judge(field)), { once: true });
      else judge(field);
    },
    // Enter sends the form without leaving the field.
    onKeyDown: ({ key, currentTarget: field }: KeyboardEvent<Field>) => {
      if (key !== 'Enter' || field instanceof HTMLTextAreaElement) return;
      bring(field);
      judge(field);
    },
  };
}
