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

/**
 * A form with the preview beside it. Where there is no room beside it, `children` get a button that opens the preview.
 * `waitlist` has the settings that are not saved yet.
 */
export function PreviewBeside({
  waitlist,
  children,
}: {
  waitlist: PreviewedWaitlist;
  children: (previewButton: ReactNode) => ReactNode;
}) {
  const [state, setState] = useState<PreviewState>(waitlist.is_closed ? 'closed' : 'form');
  const [isOpen, { open, close }] = useDisclosure(false);
  const isWide = useMediaQuery(WIDE, true, { getInitialValueInEffect: false });
  const preview = <Preview waitlist={waitlist} state={state} onState={setState} />;
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
      <ShowState value={setState}>{children(isWide ? null : button)}</ShowState>
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
