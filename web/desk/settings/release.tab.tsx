import { Checkbox, Group, NumberInput, Radio, Select, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { RELEASE } from '../bounds';
import { PlainSection } from '../parts/section';
import { type Waitlist, waitlistQuery } from '../queries';
import { clockOf, ownTimeZone, seatsSentence, timeZones, WEEKDAY_NAMES, WEEKDAYS } from '../release/plan';
import { PlanState } from '../release/plan-state';
import { ReleaseRuns } from '../release/release-runs';
import { SHORT_INPUT } from '../theme';
import { numberFault } from './number-fault';
import { type SettingChanges, SettingsTab, useSettingsForm, withChanges } from './settings-form';

/** Fields of numbers hold an empty text when nothing is typed. */
interface PlanValues {
  every: 'none' | 'hour' | 'day';
  weekdays: string[];
  at: string;
  time_zone: string;
  count: number | string;
  seats: number | string;
  until: string;
}

interface ReleaseValues extends Record<string, unknown> {
  release_plan: PlanValues;
}

type ReleaseForm = UseFormReturnType<ReleaseValues>;

const RHYTHMS = [
  { value: 'none', label: 'Only by hand' },
  { value: 'day', label: 'Every day, or on some days of the week' },
  { value: 'hour', label: 'Every hour' },
] as const;
const DEFAULTS = { at: '09:00', count: 50 };
/** Often enough to see a planned run. */
const REFRESH_MS = 30_000;

const ifPlanned =
  <Value,>(check: (value: Value, plan: PlanValues) => string | null) =>
  (value: Value, { release_plan: plan }: ReleaseValues) =>
    plan.every === 'none' ? null : check(value, plan);
const RULES = {
  release_plan: {
    weekdays: ifPlanned((days: string[], { every }) =>
      every === 'day' && days.length === 0 ? 'Choose at least one day.' : null,
    ),
    at: ifPlanned((time: string, { every }) => (every === 'day' && time === '' ? 'Enter a time.' : null)),
    count: ifPlanned((number: number | string) => numberFault(number, RELEASE.count)),
    seats: ifPlanned((number: number | string) => (number === '' ? null : numberFault(number, RELEASE.seats))),
  },
};

/** A plan that offers seats at regular times, and its runs. */
export function ReleaseTab({ waitlist: given }: { waitlist: Waitlist }) {
  const waitlist = useQuery({ ...waitlistQuery(given.id), refetchInterval: REFRESH_MS }).data ?? given;
  const { release_plan: plan } = waitlist;
  const queries = useQueryClient();
  /** The service replaces the plan as a whole, and somebody else may have changed or paused it meanwhile. */
  const toChanges = async ({ release_plan: values }: Partial<ReleaseValues>, before: ReleaseValues) => {
    if (!values) return {};
    const now = await queries.fetchQuery({ ...waitlistQuery(given.id), staleTime: 0 });
    const merged = withChanges(valuesOf(now).release_plan, values, before.release_plan) as PlanValues;
    return changesOf(merged, now.release_plan?.is_active ?? true);
  };
  const settings = useSettingsForm(waitlist, valuesOf, toChanges, RULES);
  return (
    <Stack gap="xl" maw="var(--width-form)">
      {plan && <PlanState waitlist={waitlist} plan={plan} />}
      <SettingsTab settings={settings} savedText={savedText}>
        <PlanFields form={settings.form} waitlist={waitlist} />
      </SettingsTab>
      <ReleaseRuns waitlistId={waitlist.id} timeZone={plan?.time_zone ?? null} />
    </Stack>
  );
}

function PlanFields({ form, waitlist }: { form: ReleaseForm; waitlist: Waitlist }) {
  const { every, time_zone: zone } = form.values.release_plan;
  const zones = useMemo(() => timeZones(zone), [zone]);
  return (
    <PlainSection
      title="Release plan"
      description="Offers the first in line a seat at regular times. How long an offer holds is set under Offers."
    >
      <Radio.Group label="Seats are offered" {...form.getInputProps('release_plan.every')}>
        <Stack gap="xs" mt="xs">
          {RHYTHMS.map((rhythm) => (
            <Radio key={rhythm.value} {...rhythm} />
          ))}
        </Stack>
      </Radio.Group>
      {every === 'day' && (
        <>
          <Checkbox.Group label="Days" {...form.getInputProps('release_plan.weekdays')}>
            <Group gap="md" mt="xs">
              {WEEKDAYS.map((day) => (
                <Checkbox key={day} value={String(day)} label={WEEKDAY_NAMES[day - 1]} />
              ))}
            </Group>
          </Checkbox.Group>
          <TextInput type="time" label="Time" styles={SHORT_INPUT} {...form.getInputProps('release_plan.at')} />
        </>
      )}
      {every !== 'none' && (
        <>
          <Select
            label="Time zone"
            description={
              every === 'hour' ? 'Runs are on the hour, by its clock.' : 'The time is by its clock, also in summer.'
            }
            data={zones}
            searchable
            allowDeselect={false}
            nothingFoundMessage="No such time zone"
            // Within the page's landmark; the list itself scrolls.
            comboboxProps={{ withinPortal: false }}
            withScrollArea={false}
            styles={{ options: { maxHeight: 240, overflowY: 'auto' } }}
            {...form.getInputProps('release_plan.time_zone')}
          />
          <NumberInput
            label="People each time"
            styles={SHORT_INPUT}
            min={RELEASE.count.minimum}
            max={RELEASE.count.maximum}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            thousandSeparator
            {...form.getInputProps('release_plan.count')}
          />
          <NumberInput
            label="Seats in all"
            description={`The plan makes no offers beyond this number. ${waitlist.release_plan ? seatsSentence({ ...waitlist.release_plan, seats: null }) : ''} Leave it empty for no limit.`}
            styles={SHORT_INPUT}
            min={RELEASE.seats.minimum}
            max={RELEASE.seats.maximum}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            thousandSeparator
            {...form.getInputProps('release_plan.seats')}
          />
          <TextInput
            type="date"
            label="Last day"
            description="Leave it empty for a plan without an end."
            styles={SHORT_INPUT}
            {...form.getInputProps('release_plan.until')}
          />
        </>
      )}
    </PlainSection>
  );
}

function savedText({ release_plan: plan }: { release_plan: Waitlist['release_plan'] }): string {
  const [next] = plan?.next_runs ?? [];
  if (plan === null) return 'Saved. There is no plan.';
  if (next !== undefined) return `Saved. The next run is ${clockOf(plan.time_zone).format(new Date(next))}.`;
  return plan.is_active ? 'Saved. No run is planned until the last day.' : 'Saved.';
}

function valuesOf({ release_plan: plan }: Waitlist): ReleaseValues {
  return {
    release_plan: {
      every: plan?.every ?? 'none',
      weekdays: (plan?.weekdays ?? WEEKDAYS).map(String),
      at: plan?.at ?? DEFAULTS.at,
      time_zone: plan?.time_zone ?? ownTimeZone(),
      count: plan?.count ?? DEFAULTS.count,
      seats: plan?.seats ?? '',
      until: plan?.until ?? '',
    },
  };
}

function changesOf(plan: PlanValues, isActive: boolean): SettingChanges {
  const { every, weekdays, at, time_zone, count: number, seats, until } = plan;
  if (every === 'none') return { release_plan: null };
  return {
    release_plan: {
      every,
      ...(every === 'day' && { weekdays: weekdays.map(Number).sort(), at }),
      time_zone,
      count: Number(number),
      seats: seats === '' ? null : Number(seats),
      until: until === '' ? null : until,
      is_active: isActive,
    },
  };
}
