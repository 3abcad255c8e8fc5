import { isSupportedCountry } from 'libphonenumber-js';
import { type FieldFault, Problem } from '../platform/problems/problem.js';
import type { RequiredContact, WaitlistEntity } from './waitlist.entity.js';

/** The columns of a waitlist that its owner sets. */
export const SETTINGS = [
  'name',
  'urlLocation',
  'spotsPerReferral',
  'requiredContact',
  'defaultRegion',
  'questions',
  'isClosed',
  'isPublic',
  'hidesCounts',
] as const satisfies readonly (keyof WaitlistEntity)[];
export type Settings = Pick<WaitlistEntity, (typeof SETTINGS)[number]>;

/** Settings to change. An omitted one keeps its value. */
export interface SettingChanges extends Partial<Omit<Settings, 'requiredContact'>> {
  readonly requiredContact?: Partial<RequiredContact>;
}

/** The waitlist with changed settings. @throws Problem `INVALID_REQUEST` */
export function withSettings(waitlist: WaitlistEntity, changes: SettingChanges): WaitlistEntity {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const changed: WaitlistEntity = {
    ...waitlist,
    ...(Object.fromEntries(given) as Partial<Settings>),
    requiredContact: { ...waitlist.requiredContact, ...changes.requiredContact },
  };
  requireSound(changed);
  return changed;
}

/** Rules that no field decorator states. @throws Problem `INVALID_REQUEST` */
export function requireSound({
  requiredContact,
  defaultRegion,
  questions,
}: Pick<Settings, 'requiredContact' | 'defaultRegion' | 'questions'>): void {
  const faults: FieldFault[] = [];
  if (requiredContact.email === 'off' && requiredContact.phone === 'off') {
    faults.push({
      field: 'required_contact',
      rule: 'reachable',
      message: 'must leave email or phone on: a record is found by one of them',
    });
  }
  if (defaultRegion && !isSupportedCountry(defaultRegion)) {
    faults.push({
      field: 'default_region',
      rule: 'known',
      message: 'must be a country that has phone numbers, such as US',
    });
  }
  if (new Set(questions.map(({ text }) => text)).size < questions.length) {
    faults.push({ field: 'questions', rule: 'unique', message: 'must differ from each other' });
  }
  if (faults.length > 0) throw Problem.invalid(faults);
}
