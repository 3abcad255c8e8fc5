import { Button, Group, Stack, Text } from '@mantine/core';
import { ExternalLinkIcon } from '@radix-ui/react-icons';
import { QRCodeSVG } from 'qrcode.react';
import { basePath } from '../environment';
import { CopyField } from '../parts/copy-field';
import { Section } from '../parts/section';
import type { Waitlist } from '../queries';
import classes from './overview.module.css';

const CODE_SIZE = 128;

/** Where people join: the page's address, and the tag for a page of the owner's own. */
export function YourPage({ waitlist: { id, waitlist_url_location: address } }: { waitlist: Waitlist }) {
  return (
    <Section id="your-page" title="Your page">
      <Stack gap="md">
        <CopyField label="Address" value={address} />
        <Group align="flex-start" wrap="nowrap">
          <div className={classes.code}>
            <QRCodeSVG value={address} size={CODE_SIZE} title="QR code of the address" />
          </div>
          <Stack gap="xs" align="flex-start">
            <Button
              component="a"
              href={address}
              target="_blank"
              rel="noopener"
              variant="default"
              rightSection={<ExternalLinkIcon aria-hidden />}
            >
              Open
            </Button>
            <Text size="sm" c="dimmed">
              Use the QR code in print and on slides.
            </Text>
          </Stack>
        </Group>
        <CopyField
          label="Widget for a page of your own"
          description="Paste it where the form should appear."
          value={snippetOf(id)}
        />
      </Stack>
    </Section>
  );
}

function snippetOf(waitlistId: number): string {
  const script = `<script src="${location.origin}${basePath}/widget.js" async></script>`;
  return `<waitlist-signup waitlist-id="${waitlistId}"></waitlist-signup>${script}`;
}
