import { Button, Modal } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { EyeOpenIcon } from '@radix-ui/react-icons';
import { createContext, type ReactNode, useContext, useState } from 'react';
import type { PreviewedWaitlist, PreviewState } from './drawn-preview';
import { Preview } from './preview';
import classes from './settings.module.css';

/** As in settings.module.css. */
const WIDE = '(min-width: 75em)';

const ShowState = createContext<(state: PreviewState) => void>(() => undefined);

/** Fields whose texts show in one state of the page. The preview switches to it when one of them gets the focus. */
export function ShownIn({ state, children }: { state: PreviewState; children: ReactNode }) {
  const show = useContext(ShowState);
  return (
    <div className={classes.shownIn} onFocus={() => show(state)}>
      {children}
    </div>
  );
}

/** A form with a preview beside it. Where there is no room beside it, `children` get a button that opens it. */
export function Beside({
  preview,
  children,
}: {
  preview: ReactNode;
  children: (previewButton: ReactNode) => ReactNode;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const isWide = useMediaQuery(WIDE, true, { getInitialValueInEffect: false });
  const button = (
    <Button
      className={classes.floating}
      variant="default"
      leftSection={<EyeOpenIcon aria-hidden />}
      onClick={open}
      aria-haspopup="dialog"
    >
      Preview
    </Button>
  );
  return (
    <div className={classes.beside}>
      {children(isWide ? null : button)}
      {isWide ? (
        <aside aria-label="Preview" className={classes.preview}>
          {preview}
        </aside>
      ) : (
        <Modal opened={isOpen} onClose={close} fullScreen title="Preview" closeButtonProps={{ 'aria-label': 'Close' }}>
          {preview}
        </Modal>
      )}
    </div>
  );
}

/** With the page or the widget as preview. `waitlist` has the settings that are not saved yet. */
export function PreviewBeside({
  waitlist,
  children,
}: {
  waitlist: PreviewedWaitlist;
  children: (previewButton: ReactNode) => ReactNode;
}) {
  const [state, setState] = useState<PreviewState>(waitlist.is_closed ? 'closed' : 'form');
  return (
    <ShowState value={setState}>
      <Beside preview={<Preview waitlist={waitlist} state={state} onState={setState} />}>{children}</Beside>
    </ShowState>
  );
}
