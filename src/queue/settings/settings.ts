import type { FraudRules } from '../../fraud/fraud-rules.js';
import { type FieldFault, Problem } from '../../platform/problems/problem.js';
import type { OfferRules } from './offer-rules.js';
import { changeQuestions, type GivenQuestion } from './questions.js';
import { type ReleasePlan, savedPlan } from './release-plan.js';
import type { Display, RequiredContact, WaitlistEntity } from './waitlist.entity.js';

/** The columns of a waitlist that its owner sets. */
export const SETTINGS = [
  'name',
  'slug',
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
  'sealedCaptchaSecret',
  'mailOnOffboarding',
  'mailOnSignup',
  'offers',
  'releasePlan',
] as const satisfies readonly (keyof WaitlistEntity)[];
export type Settings = Pick<WaitlistEntity, (typeof SETTINGS)[number]>;

/** A record is found by its email or its phone. */
export const UNREACHABLE: FieldFault = {
  field: 'required_contact',
  rule: 'reachable',
  message: 'must leave email or phone on: a record is found by one of them',
};

const SECRET_MISSING: FieldFault = {
  field: 'captcha.secret',
  rule: 'required',
  message: 'is required with a new provider or site_key',
};

/** Without an email, a pending person could never join. */
const NO_EMAIL: FieldFault = {
  field: 'verification',
  rule: 'one_of',
  message: 'must not be required unless required_contact.email is',
};

/** Settings to change. An omitted one keeps its value. */
export interface SettingChanges extends Partial<
  Omit<Settings, 'requiredContact' | 'questions' | 'removedQuestions' | 'display' | 'fraud' | 'offers' | 'releasePlan'>
> {
  readonly requiredContact?: Partial<RequiredContact>;
  /** All questions to ask from now on. */
  readonly questions?: readonly GivenQuestion[];
  readonly display?: Partial<Display>;
  readonly fraud?: Partial<FraudRules>;
  readonly offers?: Partial<OfferRules>;
  readonly releasePlan?: ReleasePlan | null | undefined;
}

/** The settings with the changes applied. @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN` */
export function withSettings<Current extends Settings>(current: Current, changes: SettingChanges): Current {
  const { requiredContact, questions, display, fraud, offers, releasePlan, ...others } = changes;
  const changed = {
    ...current,
    ...(given(others) as Partial<Settings>),
    requiredContact: { ...current.requiredContact, ...requiredContact },
    display: { ...current.display, ...given(display ?? {}) },
    fraud: { ...current.fraud, ...given(fraud ?? {}) },
    offers: offers ? { ...current.offers, ...given(offers) } : current.offers,
    sealedCaptchaSecret: sealedCaptchaSecretAfter(current, changes),
    releasePlan:
      releasePlan === undefined ? current.releasePlan : savedPlan(current.releasePlan, releasePlan, new Date()),
  };
  const { malformed, broken, ...newQuestions } = changeQuestions(current, questions);
  requireSound(changed, malformed);
  if (broken.length > 0) throw Problem.ruleBroken(broken);
  return { ...changed, ...newQuestions };
}

/** The secret of a captcha stays with its keys: no other provider gets it. */
function sealedCaptchaSecretAfter({ captcha, sealedCaptchaSecret }: Settings, changes: SettingChanges): string | null {
  if (changes.captcha === undefined) return sealedCaptchaSecret;
  if (changes.sealedCaptchaSecret !== undefined) return changes.sealedCaptchaSecret;
  const isSame = changes.captcha?.provider === captcha?.provider && changes.captcha?.site_key === captcha?.site_key;
  return isSame ? sealedCaptchaSecret : null;
}

type Related = Pick<Settings, 'requiredContact' | 'captcha' | 'sealedCaptchaSecret' | 'verification'>;

/**
 * Checks the rules between settings, and lists `malformed` with their faults.
 * @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`
 */
export function requireSound(
  { requiredContact, captcha, sealedCaptchaSecret, verification }: Related,
  malformed: readonly FieldFault[],
): void {
  const faults = [...malformed];
  if (requiredContact.email === 'off' && requiredContact.phone === 'off') faults.push(UNREACHABLE);
  if (captcha && sealedCaptchaSecret === null) faults.push(SECRET_MISSING);
  if (faults.length > 0) throw Problem.invalid(faults);
  if (verification === 'required' && requiredContact.email !== 'required') throw Problem.ruleBroken([NO_EMAIL]);
}

/** The fields that have a value. */
export function given<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}
