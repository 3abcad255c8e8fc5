import type { EventName } from '../../outbox/webhook.entity.js';
import { answerTo } from './given-answers.js';
import { recordFields } from './record.dto.js';
import type { SignupPage } from './referral-link.js';
import type { Waiter } from './waiter.js';
import type { Question } from '../settings/waitlist.entity.js';

export type ShownQuestion = Pick<Question, 'id' | 'text' | 'optional'>;

/** What the body shows of the waitlist. */
type ShownWaitlist = SignupPage & { readonly questions: readonly ShownQuestion[] };

/** An event, and the record that it shows; null if the record was erased. */
interface ShownEvent {
  readonly event: EventName;
  readonly uuid: string;
  readonly waiter: Waiter | null;
  readonly referredUuid: string | null;
}

/** The payload of a webhook: a record's public fields, contact data, metadata, answers; of an erased one, the uuid. */
export function eventBody({ event, uuid, waiter, referredUuid }: ShownEvent, waitlist: ShownWaitlist): object {
  const signup = waiter ? signupOf(waiter, waitlist) : { uuid };
  return { event, signup, ...(referredUuid !== null && { referred_uuid: referredUuid }) };
}

function signupOf(waiter: Waiter, waitlist: ShownWaitlist): object {
  // A spread would take five times as long.
  return Object.assign(recordFields(waiter, waitlist), {
    answers: waitlist.questions.map(({ id, text, optional }) => ({
      question_value: text,
      optional,
      answer_value: answerTo(waiter, id),
    })),
    email: waiter.email,
    first_name: waiter.firstName ?? '',
    last_name: waiter.lastName ?? '',
    metadata: waiter.metadata,
    phone: waiter.phone,
    priority: waiter.priority,
    referred_by_signup_token: waiter.referredByToken,
    waitlist_id: waiter.waitlistId,
  });
}
