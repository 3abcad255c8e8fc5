import { Button, type ButtonProps } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import { useRef } from 'react';
import classes from './copy-button.module.css';

/** Copies a text. Over plain http, where the clipboard is closed to pages, it copies by a selection. */
export function CopyButton({ text, children, ...props }: ButtonProps & { text: string; children: string }) {
  const clipboard = useClipboard();
  const source = useRef<HTMLTextAreaElement>(null);
  const copy = () => {
    if (window.isSecureContext) return clipboard.copy(text);
    source.current?.select();
    document.execCommand('copy');
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={clipboard.copied ? <CheckIcon aria-hidden /> : <CopyIcon aria-hidden />}
        onClick={copy}
        {...props}
      >
        {clipboard.copied ? 'Copied' : children}
      </Button>
      {!window.isSecureContext && (
        <textarea ref={source} className={classes.source} value={text} readOnly tabIndex={-1} aria-hidden />
      )}
    </>
  );
}
