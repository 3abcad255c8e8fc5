import { sendsMail } from '../environment';
import { CopyButton } from '../parts/copy-button';
import { count, countPeople } from '../parts/format';
import { contactOf, type OfferedPerson } from './people.queries';
import { PeopleResult } from './people-result';

/** Of so many, each has a button of its own. */
const WITH_BUTTON_MAX = 50;

/** Lists the people who were offered a seat, with their links, which are shown only now. */
export function OfferResult({
  waitlistId,
  people,
  onClose,
}: {
  waitlistId: number;
  people: readonly OfferedPerson[];
  onClose: () => void;
}) {
  return (
    <PeopleResult
      waitlistId={waitlistId}
      people={people}
      done="offered a seat"
      file="offers"
      notice={noticeOf(people)}
      isOnlyTime={people.some(({ offer_url: link }) => link !== undefined)}
      buttons={
        people.length > 1 && (
          <CopyButton text={people.map((person) => `${contactOf(person)}\t${person.offer_url ?? ''}`).join('\n')}>
            Copy contacts and links
          </CopyButton>
        )
      }
      onClose={onClose}
    >
      {({ offer_url: link }) =>
        link !== undefined &&
        people.length <= WITH_BUTTON_MAX && (
          <CopyButton size="compact-sm" text={link}>
            Copy link
          </CopyButton>
        )
      }
    </PeopleResult>
  );
}

function noticeOf(people: readonly OfferedPerson[]): string {
  const unmailed = sendsMail ? people.filter(({ email }) => email === null).length : people.length;
  const mailed = people.length - unmailed;
  const sent =
    mailed === 0 ? null : mailed === 1 ? '1 mail is on its way.' : `${count(mailed)} mails are on their way.`;
  const untold = people.length === 1 ? 'Send the link yourself' : 'Send each of them the link yourself';
  const toSend =
    mailed === 0
      ? `No mail goes out. ${untold}: it is shown only now.`
      : unmailed > 0 &&
        `${countPeople(unmailed)} ${unmailed === 1 ? 'has' : 'have'} no email: send ${unmailed === 1 ? 'the link' : 'their links'} yourself, shown only now.`;
  const undone = 'Undo takes back offers that were accepted meanwhile, too.';
  return [sent, toSend, undone].filter(Boolean).join(' ');
}
