import { Button, Textarea } from '@mantine/core';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import { useCopy } from './use-copy';

/** A text to copy: an address, a key. It is shown whole, in several lines if it is long. */
export function CopyField({ label, description, value }: { label: string; description?: string; value: string }) {
  const { source, copy, isCopied } = useCopy<HTMLTextAreaElement>(value);
  return (
    <Textarea
      autosize
      ref={source}
      label={label}
      description={description}
      value={value}
      readOnly
      onFocus={(event) => event.currentTarget.select()}
      styles={{
        input: { fontFamily: 'var(--mantine-font-family-monospace)' },
        section: { alignItems: 'flex-start', paddingTop: 5 },
      }}
      rightSectionWidth={96}
      rightSection={
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={copy}
          leftSection={isCopied ? <CheckIcon /> : <CopyIcon />}
          aria-label={isCopied ? `${label}: copied` : `Copy: ${label}`}
        >
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      }
    />
  );
}
