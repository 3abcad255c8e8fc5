import { nameKey } from '../../platform/contract/name-key.js';
import { type FieldFault, Problem } from '../../platform/problems/problem.js';
import type { ContactKeys, Newcomer, PersonChanges, StoredWaiter } from './waiter.js';
import { contactFaults, nonBlank } from './contact.js';

type Keys = Pick<Newcomer, 'emailKey' | 'phoneKey' | 'mailboxKey'>;

/** The columns of the person that a correction sets. */
export type Corrected = Partial<
  Keys & Pick<StoredWaiter, 'email' | 'phone' | 'firstName' | 'lastName' | 'nameKey' | 'metadata'>
>;

/**
 * The columns to set in a record. Blank text counts as removed. `required_contact` and questions bind signups, not the
 * owner: a correction must leave an email or a phone, by which a record is found. `keys` are the normal forms of the
 * changed contact data, in this region.
 * @throws Problem `INVALID_REQUEST` for contact data without a normal form, `WAITLIST_RULE_BROKEN`
 */
export function correctedColumns(
  record: ContactKeys & Pick<StoredWaiter, 'firstName' | 'lastName'>,
  { email, phone, firstName, lastName, metadata }: PersonChanges,
  keys: Keys,
  region: string | null,
): Corrected {
  const faults = contactFaults({ email: email ?? null, phone: phone ?? null }, keys, region);
  if (faults.length > 0) throw Problem.invalid(faults);
  const name = {
    ...(firstName !== undefined && { firstName: nonBlank(firstName) }),
    ...(lastName !== undefined && { lastName: nonBlank(lastName) }),
  };
  const corrected = {
    ...(email !== undefined && { email: nonBlank(email), emailKey: keys.emailKey, mailboxKey: keys.mailboxKey }),
    ...(phone !== undefined && { phone: nonBlank(phone), phoneKey: keys.phoneKey }),
    ...name,
    ...(Object.keys(name).length > 0 && { nameKey: nameKey({ ...record, ...name }) }),
    ...(metadata !== undefined && { metadata }),
  };
  const { emailKey, phoneKey } = { ...record, ...corrected };
  if (emailKey === null && phoneKey === null) throw Problem.ruleBroken([unreachable(email)]);
  return corrected;
}

/** Names the field that the correction removes. */
function unreachable(email: string | null | undefined): FieldFault {
  return {
    field: email === undefined ? 'phone' : 'email',
    rule: 'reachable',
    message: 'must not be removed: a record is found by its email or its phone',
  };
}
