import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useFocusKeeper } from '../parts/use-focus-keeper';
import { DecideDialog } from './decide-dialog';
import { EraseDialog } from './erase-dialog';
import { LetInDialog, LetNextInDialog } from './let-in';
import { LetInResult } from './let-in-result';
import { MoveDialog } from './move-dialog';
import { OfferDialog, OfferNextDialog } from './offer';
import { OfferLinkDialog } from './offer-link-dialog';
import { OfferResult } from './offer-result';
import { type OfferedPerson, type Person, refreshPeople, type WholePerson } from './people.queries';
import { RefuseAllDialog } from './refuse-all-dialog';
import { ReturnDialog } from './return-dialog';

/** What an owner can do with people, and the result of letting some in or offering them a seat. */
export type PersonDialog =
  | { readonly kind: 'let in' | 'let in result' | 'offer' | 'return' | 'erase'; readonly people: readonly Person[] }
  | { readonly kind: 'let next in' | 'offer next' }
  | { readonly kind: 'offer result'; readonly people: readonly OfferedPerson[] }
  | { readonly kind: 'decide'; readonly people: readonly Person[]; readonly credit: 'credited' | 'refused' }
  | { readonly kind: 'move' | 'offer link' | 'refuse all'; readonly person: WholePerson };

interface PersonDialogs {
  readonly open: (dialog: PersonDialog) => void;
  /** The open dialog, to be shown with the page or the panel. */
  readonly dialog: ReactNode;
}

/**
 * The dialogs of people: one at a time. `onDone` is called once people were let in, offered a seat, put back or decided
 * on; `onErased` after an erasure.
 */
export function usePersonDialogs(
  waitlistId: number,
  { onDone, onErased }: { onDone?: () => void; onErased?: () => void },
): PersonDialogs {
  const [shown, setShown] = useState<PersonDialog | null>(null);
  const queries = useQueryClient();
  const keepFocus = useFocusKeeper(shown !== null);
  const open = (dialog: PersonDialog) => {
    keepFocus();
    setShown(dialog);
  };
  const close = (isUncertain: boolean) => {
    if (isUncertain) void refreshPeople(queries, waitlistId);
    // The dialog that let people in, or offered them a seat, closes after its result has taken its place.
    setShown((current) => (current === shown ? null : current));
  };
  const showLetIn = (people: readonly Person[]) => {
    onDone?.();
    setShown({ kind: 'let in result', people });
  };
  const showOffered = (people: readonly OfferedPerson[]) => {
    onDone?.();
    setShown({ kind: 'offer result', people });
  };
  return { open, dialog: shown && dialogOf(shown) };

  function dialogOf(dialog: PersonDialog): ReactNode {
    switch (dialog.kind) {
      case 'let in':
        return <LetInDialog waitlistId={waitlistId} people={dialog.people} onDone={showLetIn} onClose={close} />;
      case 'let next in':
        return <LetNextInDialog waitlistId={waitlistId} onDone={showLetIn} onClose={close} />;
      case 'let in result':
        return <LetInResult waitlistId={waitlistId} people={dialog.people} onClose={() => close(false)} />;
      case 'offer':
        return <OfferDialog waitlistId={waitlistId} people={dialog.people} onDone={showOffered} onClose={close} />;
      case 'offer next':
        return <OfferNextDialog waitlistId={waitlistId} onDone={showOffered} onClose={close} />;
      case 'offer result':
        return <OfferResult waitlistId={waitlistId} people={dialog.people} onClose={() => close(false)} />;
      case 'offer link':
        return <OfferLinkDialog person={dialog.person} onClose={() => close(false)} />;
      case 'return':
        return (
          <ReturnDialog waitlistId={waitlistId} people={dialog.people} onDone={() => onDone?.()} onClose={close} />
        );
      case 'decide':
        return (
          <DecideDialog
            waitlistId={waitlistId}
            people={dialog.people}
            credit={dialog.credit}
            onDone={() => onDone?.()}
            onClose={close}
          />
        );
      case 'move':
        return <MoveDialog person={dialog.person} onClose={close} />;
      case 'erase':
        return (
          <EraseDialog waitlistId={waitlistId} people={dialog.people} onErased={() => onErased?.()} onClose={close} />
        );
      case 'refuse all':
        return <RefuseAllDialog person={dialog.person} onClose={close} />;
    }
  }
}
