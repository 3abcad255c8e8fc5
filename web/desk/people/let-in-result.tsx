import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { sendsMail } from '../environment';
import { CopyButton } from '../parts/copy-button';
import { count, countPeople } from '../parts/format';
import { contactOf, type Person } from './people.queries';
import { PeopleResult } from './people-result';
import { useIsMailed } from './use-is-mailed';

/** Lists the people who were let in, and says who gets no mail. */
export function LetInResult({
  waitlistId,
  people,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  onClose: () => void;
}) {
  const isMailed = useIsMailed(waitlistId);
  const mailed = people.filter(({ email }) => email !== null);
  const phones = people.flatMap(({ email, phone }) => (email === null && phone !== null ? [phone] : []));
  const unmailedNotice = (
    <>
      No mail went out. Copy their contacts or download the list, and write to them.{' '}
      <Anchor
        inherit
        // The accent is too pale on the notice.
        c="inherit"
        underline="always"
        renderRoot={(props) => (
          <Link {...props} to="/$waitlistId/settings/$tab" params={{ waitlistId, tab: 'mails' }} />
        )}
      >
        {sendsMail ? 'Turn the mail on for the next ones' : 'How this service can send mail'}
      </Anchor>
    </>
  );
  return (
    <PeopleResult
      waitlistId={waitlistId}
      people={people}
      done="let in"
      file="let-in"
      notice={isMailed === undefined ? undefined : isMailed ? mailNotice(mailed.length, phones.length) : unmailedNotice}
      buttons={
        <>
          <CopyButton text={people.map(contactOf).join('\n')}>Copy contacts</CopyButton>
          {isMailed && phones.length > 0 && (
            <CopyButton text={phones.join('\n')}>{phones.length === 1 ? 'Copy the phone' : 'Copy phones'}</CopyButton>
          )}
        </>
      }
      onClose={onClose}
    />
  );
}

/** With `mail_on_offboarding`, the service mails everyone who has an email. */
function mailNotice(mailed: number, unmailed: number): string {
  const sent = mailed === 0 ? null : mailed === 1 ? '1 mail is on its way' : `${count(mailed)} mails are on their way`;
  const untold =
    unmailed === 0
      ? null
      : unmailed === 1
        ? '1 person has no email: copy their phone'
        : `${countPeople(unmailed)} have no email: copy their phones`;
  return `${[sent, untold].filter(Boolean).join('; ')}.`;
}
