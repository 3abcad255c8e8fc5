import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { ExternalLinkIcon } from '@radix-ui/react-icons';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { basePath, hostedPage } from '../environment';
import { CopyField } from '../parts/copy-field';
import { Section } from '../parts/section';
import type { Waitlist } from '../queries';
import classes from './overview.module.css';

const CODE_SIZE = 128;

/** Where people join: the page's address, and the tag for a page of the owner's own. */
export function YourPage({ waitlist }: { waitlist: Waitlist }) {
  const { id, waitlist_url_location: address, is_public: isPublic } = waitlist;
  const isHosted = address === hostedPage(waitlist);
  return (
    <Section id="your-page" title="Your page" description={stateOf(waitlist, isHosted)}>
      <Stack gap="md">
        {(isPublic || !isHosted) && <Address address={address} />}
        {isPublic && <Widget waitlistId={id} />}
      </Stack>
    </Section>
  );
}

function Address({ address }: { address: string }) {
  return (
    <>
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
    </>
  );
}

function Widget({ waitlistId }: { waitlistId: number }) {
  const [layout, setLayout] = useState('form');
  const isRow = layout === 'row';
  return (
    <Stack gap="xs">
      <CopyField
        label="Widget for a page of your own"
        description={
          isRow
            ? 'Paste it where the form should appear. A waitlist that asks for more than the email shows its usual form.'
            : 'Paste it where the form should appear.'
        }
        value={snippetOf(waitlistId, isRow ? ' layout="row"' : '')}
      />
      <SegmentedControl
        size="xs"
        aria-label="Layout of the widget"
        style={{ alignSelf: 'flex-start' }}
        data={[
          { value: 'form', label: 'Form' },
          { value: 'row', label: 'One row' },
        ]}
        value={layout}
        onChange={setLayout}
      />
    </Stack>
  );
}

/** What visitors see while the waitlist is closed or private. */
function stateOf({ is_public: isPublic, is_closed: isClosed }: Waitlist, isHosted: boolean): string | undefined {
  if (!isPublic)
    return isHosted
      ? 'While the waitlist is private, it has no page: its address and QR code lead to “Page not found”, and the widget shows nothing.'
      : 'While the waitlist is private, the page of this service and the widget show nothing. Referral links lead to your own page.';
  if (isClosed)
    return 'The page and the widget say that the waitlist is closed, and show those who joined their place.';
  return undefined;
}

function snippetOf(waitlistId: number, layout: string): string {
  const script = `<script src="${location.origin}${basePath}/widget.js" async></script>`;
  return `<waitlist-signup waitlist-id="${waitlistId}"${layout}></waitlist-signup>${script}`;
}
