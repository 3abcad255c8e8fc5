import { Button, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import { useRef } from 'react';

/** A text to copy: an address, a key. Without access to the clipboard (plain http), the button selects the text. */
export function CopyField({ label, description, value }: { label: string; description?: string; value: string }) {
  const clipboard = useClipboard();
  const input = useRef<HTMLInputElement>(null);
  const copy = () => {
    if (window.isSecureContext) clipboard.copy(value);
    else input.current?.select();
  };
  return (
    <TextInput
      ref={input}
      label={label}
      description={description}
      value={value}
      readOnly
      onFocus={(event) => event.currentTarget.select()}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      rightSectionWidth={96}
      rightSection={
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={copy}
          leftSection={clipboard.copied ? <CheckIcon /> : <CopyIcon />}
          aria-label={clipboard.copied ? `${label}: copied` : `Copy: ${label}`}
        >
          {clipboard.copied ? 'Copied' : 'Copy'}
        </Button>
      }
    />
  );
}
