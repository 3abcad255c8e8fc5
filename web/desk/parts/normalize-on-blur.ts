import type { FocusEvent, KeyboardEvent } from 'react';

/** A typed text in the form that is saved, and what is wrong with it. With a fault, the field keeps the typed text. */
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

/** Whether a button of the mouse is down. A drag ends without `mouseup`. */
let isPressed = false;
window.addEventListener('mousedown', () => (isPressed = true), true);
for (const end of ['mouseup', 'dragend']) window.addEventListener(end, () => (isPressed = false), true);

/**
 * The handlers of a field that, when it loses the focus, changes its text to the one that is saved, or shows a fault.
 * `path` is the name of the field in the form.
 */
export function normalizeOnBlur(form: FaultForm, path: string, read: (typed: string) => Read) {
  const normalize = (field: Field) => {
    const { text, fault } = read(field.value);
    if (fault === null && text !== field.value) form.setFieldValue(path, text);
  };
  const showFault = (field: Field) => {
    const { fault } = read(field.value);
    // The click may have removed the field.
    if (fault !== null && field.isConnected) form.setFieldError(path, fault);
  };
  return {
    onBlur: ({ currentTarget: field }: FocusEvent<Field>) => {
      normalize(field);
      // The fault takes a line. Shown before the end of a click, it would move the clicked button away.
      if (isPressed) window.addEventListener('mouseup', () => setTimeout(() => showFault(field)), { once: true });
      else showFault(field);
    },
    // Enter sends the form without leaving the field.
    onKeyDown: ({ key, currentTarget: field }: KeyboardEvent<Field>) => {
      if (key !== 'Enter' || field instanceof HTMLTextAreaElement) return;
      normalize(field);
      showFault(field);
    },
  };
}
