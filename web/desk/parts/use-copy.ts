import { useClipboard } from '@mantine/hooks';
import { useRef } from 'react';

/**
 * Copies a text. Over plain http, where the clipboard is closed to pages, it selects `source`, an element that holds
 * the text, and copies the selection.
 */
export function useCopy<Source extends HTMLInputElement | HTMLTextAreaElement>(text: string) {
  const clipboard = useClipboard();
  const source = useRef<Source>(null);
  const copy = () => {
    if (window.isSecureContext) return clipboard.copy(text);
    source.current?.select();
    document.execCommand('copy');
  };
  return { source, copy, isCopied: clipboard.copied };
}
