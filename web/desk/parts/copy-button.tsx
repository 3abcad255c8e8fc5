import { Button, type ButtonProps } from '@mantine/core';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import classes from './copy-button.module.css';
import { useCopy } from './use-copy';

/** A button that copies a text. */
export function CopyButton({ text, children, ...props }: ButtonProps & { text: string; children: string }) {
  const { source, copy, isCopied } = useCopy<HTMLTextAreaElement>(text);
  return (
    <>
      <Button
        variant="default"
        leftSection={isCopied ? <CheckIcon aria-hidden /> : <CopyIcon aria-hidden />}
        onClick={copy}
        {...props}
      >
        {isCopied ? 'Copied' : children}
      </Button>
      {!window.isSecureContext && (
        <textarea ref={source} className={classes.source} value={text} readOnly tabIndex={-1} aria-hidden />
      )}
    </>
  );
}
