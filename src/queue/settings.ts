import { type FieldFault, Problem } from '../platform/problems/problem.js';
import { changeQuestions, type GivenQuestion } from './questions.js';
import type { Display, RequiredContact, WaitlistEntity } from './waitlist.entity.js';

/** The columns of a waitlist that its owner sets. */
export const SETTINGS = [
  'name',
  'urlLocation',
  'spotsPerReferral',
  'requiredContact',
  'defaultRegion',
  'questions',
  'removedQuestions',
  'isClosed',
  'isPublic',
  'hidesCounts',
  'display',
  'verification',
  'fraud',
  'captcha',
  'captchaSecret',
  'mailSubject',
  'mailText',
  'mailOnOffboarding',
] as const satisfies readonly (keyof WaitlistEntity)[];
export type Settings = Pick<WaitlistEntity, (typeof SETTINGS)[number]>;

/** A record is found by its email or its phone. */
export const UNREACHABLE: FieldFault = {
  field: 'required_contact',
  rule: 'reachable',
  message: 'must leave email or phone on: a record is found by one of them',
};

/** Settings to change. An omitted one keeps its value. */
export interface SettingChanges extends Partial<
  Omit<Settings, 'requiredContact' | 'questions' | 'removedQuestions' | 'display'>
> {
  readonly requiredContact?: Partial<RequiredContact>;
  /** All questions to ask from now on. */
  readonly questions?: readonly GivenQuestion[];
  readonly display?: Partial<Display>;
}

/** The settings with the changes applied. @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN` */
export function withSettings<Current extends Settings>(current: Current, changes: SettingChanges): Current {
  const { requiredContact, questions, display, ...others } = changes;
  const changed = {
    ...current,
    ...(given(others) as Partial<Settings>),
    requiredContact: { ...current.requiredContact, ...requiredContact },
    display: { ...current.display, ...given(display ?? {}) },
  };
  const { malformed, broken, ...newQuestions } = changeQuestions(current, questions);
  requireSound(changed, malformed);
  if (broken.length > 0) throw Problem.ruleBroken(broken);
  return { ...changed, ...newQuestions };
}

/** Checks the rules between settings, and lists `malformed` with their faults. @throws Problem `INVALID_REQUEST` */
export function requireSound(
  { requiredContact }: Pick<Settings, 'requiredContact'>,
  malformed: readonly FieldFault[],
): void {
  const faults = [...malformed];
  if (requiredContact.email === 'off' && requiredContact.phone === 'off') {
    faults.push(UNREACHABLE);
  }
  if (faults.length > 0) throw Problem.invalid(faults);
}

/** The fields that have a value. */
export function given<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}
