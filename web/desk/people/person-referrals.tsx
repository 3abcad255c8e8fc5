import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { count, countPeople } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { PlainSection } from '../parts/section';
import { useMay } from '../roles';
import { choicesFor, CREDIT_LABELS, CREDIT_SENTENCES, isUncredited, reasonsOf } from './credit';
import { contactOf, type Person, referredPeopleQuery, type WholePerson } from './people.queries';

const REFERRED_SHOWN = 5;

/** How many referred people have a status: "1 person they referred is in line". */
const REFERRED: Readonly<Record<Person['status'], readonly [one: string, many: string]>> = {
  waiting: ['is in line', 'are in line'],
  offered: ['has an open offer', 'have an open offer'],
  offboarded: ['is no longer in line', 'are no longer in line'],
  pending: ['has not confirmed the email yet', 'have not confirmed the email yet'],
};

function referredSentence(status: Person['status'], total: number | null): string {
  const [one, many] = REFERRED[status];
  if (total === null) return `People they referred who ${many}`;
  return `${countPeople(total)} they referred ${total === 1 ? one : many}`;
}

/** Who referred a person, and whom the person referred. */
export function Referrals({ person, onRefuseAll }: { person: WholePerson; onRefuseAll: () => void }) {
  const { waitlist_id: waitlistId, referral_token: token, referrer, referred_by_waiter_token: by } = person;
  const referred = useQuery(referredPeopleQuery(waitlistId, token, REFERRED_SHOWN));
  const groups = referred.data ?? [];
  const mayRefuse = useMay('editor');
  return (
    <PlainSection isDense title="Referrals">
      <Text size="sm">
        {referrer ? (
          <>
            Referred by{' '}
            <PersonLink
              person={{ ...referrer, waitlist_id: waitlistId }}
              name={referrer.email ?? referrer.referral_token}
            />
          </>
        ) : by !== null ? (
          <>
            Referred with the code <Code>{by}</Code>, which belongs to nobody on this list.
          </>
        ) : (
          'Not referred.'
        )}
      </Text>
      {referred.isError && <ProblemAlert error={referred.error} onRetry={() => void referred.refetch()} />}
      {referred.data && groups.length === 0 && <Text size="sm">No referrals yet.</Text>}
      {groups.map(({ status, people, total, nextAfterId }) => (
        <Stack gap={4} key={status}>
          <Text size="sm" c="dimmed">
            {referredSentence(status, total)}
          </Text>
          {people.map((other) => (
            <Text size="sm" key={other.uuid}>
              <PersonLink person={other} name={contactOf(other)} />
              {isUncredited(other.credit) && (
                <Text span inherit c="dimmed">
                  {` · ${CREDIT_LABELS[other.credit]}`}
                </Text>
              )}
            </Text>
          ))}
          {nextAfterId !== null && (
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/$waitlistId/people"
                  params={{ waitlistId }}
                  search={{ referral_token: token, ...(status !== 'waiting' && { status }) }}
                />
              )}
            >
              Show all {total !== null && count(total)}
            </Anchor>
          )}
        </Stack>
      ))}
      {mayRefuse && groups.length > 0 && (
        <Group>
          <Button size="compact-sm" variant="subtle" color="red" onClick={onRefuseAll}>
            Refuse all referrals
          </Button>
        </Group>
      )}
    </PlainSection>
  );
}

function PersonLink({ person, name }: { person: Pick<Person, 'uuid' | 'waitlist_id'>; name: string }) {
  const params = { waitlistId: person.waitlist_id, uuid: person.uuid };
  return (
    <Anchor
      inherit
      style={{ overflowWrap: 'anywhere' }}
      renderRoot={(props) => <Link {...props} to="/$waitlistId/people/$uuid" params={params} search />}
    >
      <bdi>{name}</bdi>
    </Anchor>
  );
}

/** Whether the referral by which a person came counts, and if not, why. */
export function CreditOfReferral({
  person,
  onDecide,
}: {
  person: WholePerson;
  onDecide: (credit: 'credited' | 'refused') => void;
}) {
  const { credit } = person;
  const mayDecide = useMay('editor');
  if (credit === 'none') return null;
  const { canApprove, canRefuse } = choicesFor(person);
  return (
    <PlainSection isDense title="The referral that brought them">
      <Text size="sm">
        {CREDIT_SENTENCES[credit]}
        {person.credit_reasons.length > 0 && ` Reasons: ${reasonsOf(person)}.`}
      </Text>
      <Group gap="xs">
        {mayDecide && canApprove && (
          <Button size="compact-sm" variant="default" onClick={() => onDecide('credited')}>
            Approve
          </Button>
        )}
        {mayDecide && canRefuse && (
          <Button size="compact-sm" variant="default" onClick={() => onDecide('refused')}>
            Refuse
          </Button>
        )}
      </Group>
    </PlainSection>
  );
}
