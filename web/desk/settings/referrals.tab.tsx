import { NumberInput, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api';
import { WAITLIST } from '../bounds';
import { countPeople } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { SHORT_INPUT } from '../theme';
import { SettingsTab, useSettingsForm } from './settings-form';

interface ReferralValues extends Record<string, unknown> {
  spots_to_move_upon_referral: number;
  uses_leaderboard: boolean;
  leaderboard_length: number;
}

const SPOTS = WAITLIST.spots_to_move_upon_referral;
const LEADERS = WAITLIST.leaderboard_length;
/** A pause in typing after which the service counts. */
const PREVIEW_PAUSE_MS = 300;

/** What a referral earns, and who may see it. */
export function ReferralsTab({ waitlist }: { waitlist: Waitlist }) {
  const settings = useSettingsForm<ReferralValues>(waitlist, valuesOf, (changed) => changed);
  const { form, saved } = settings;
  const { spots_to_move_upon_referral: spots } = form.values;
  return (
    <SettingsTab
      settings={settings}
      savedText={({ records_moved }) => (records_moved > 0 ? `Saved. ${countPeople(records_moved)} moved.` : 'Saved.')}
    >
      <PlainSection title="Moving up">
        <NumberInput
          label="Places for each friend who joins"
          description="How many places a person moves up for each friend who joins. A change applies at once, to earlier referrals too."
          min={SPOTS.minimum}
          max={SPOTS.maximum}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          styles={SHORT_INPUT}
          {...form.getInputProps('spots_to_move_upon_referral')}
        />
        {spots !== saved.spots_to_move_upon_referral && <Preview waitlistId={waitlist.id} spots={spots} />}
      </PlainSection>
      <PlainSection
        title="Leaderboard"
        description="The people with the most referrals, with names and addresses shortened."
      >
        <Switch
          label="Everybody may see the leaderboard"
          {...form.getInputProps('uses_leaderboard', { type: 'checkbox' })}
        />
        <NumberInput
          label="People on the leaderboard"
          min={LEADERS.minimum}
          max={LEADERS.maximum}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          styles={SHORT_INPUT}
          disabled={!form.values.uses_leaderboard}
          {...form.getInputProps('leaderboard_length')}
        />
      </PlainSection>
    </SettingsTab>
  );
}

/** How many people a change would move, before it is saved. */
function Preview({ waitlistId, spots }: { waitlistId: number; spots: unknown }) {
  const [asked] = useDebouncedValue(spots, PREVIEW_PAUSE_MS);
  const isValid = typeof asked === 'number' && asked >= SPOTS.minimum && asked <= SPOTS.maximum;
  const preview = useQuery({
    queryKey: ['waitlists', waitlistId, 'reorder', asked],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/waitlist/{waitlist_id}/reorder', {
          params: { path: { waitlist_id: waitlistId }, query: { spots_to_move_upon_referral: asked as number } },
          signal,
        }),
      ),
    enabled: isValid,
    placeholderData: keepPreviousData,
  });
  if (preview.isError) return <ProblemAlert error={preview.error} onRetry={() => void preview.refetch()} />;
  return (
    <Text size="sm" role="status" c={preview.isPlaceholderData ? 'dimmed' : undefined}>
      {preview.data && isValid ? `${someOrNobody(preview.data.records_moved)} would move.` : ' '}
    </Text>
  );
}

function someOrNobody(number: number): string {
  return number === 0 ? 'Nobody' : countPeople(number);
}

function valuesOf(waitlist: Waitlist): ReferralValues {
  return {
    spots_to_move_upon_referral: waitlist.spots_to_move_upon_referral,
    uses_leaderboard: waitlist.uses_leaderboard,
    leaderboard_length: waitlist.leaderboard_length,
  };
}
