import { Email, Flag, Metadata, OneOf, PersonName, Phone, WholeNumber } from '../platform/contract/fields.js';
import type { JsonObject, PersonChanges } from '../queue/record/waiter.js';

const SPOTS_MAX = 1_000_000;
const REMOVABLE = { optional: true, nullable: true } as const;

/** An owner's corrections of a record. An omitted field keeps its value; null removes it. */
export class UpdateWaiterDto {
  @WholeNumber({
    optional: true,
    minimum: -SPOTS_MAX,
    maximum: SPOTS_MAX,
    description:
      'Moves the Waiter forward by this many positions, or back if it is negative. It adds to the spots granted before; a sum below 0 counts as 0.',
    example: 0,
  })
  spots_to_advance?: number;

  @Metadata({ ...REMOVABLE, description: 'Replaces the metadata: a JSON object of at most 16 KiB and 8 levels.' })
  metadata?: JsonObject | null;

  @Email({ ...REMOVABLE, example: undefined, description: 'Replaces the email. `registered_email` stays as it is.' })
  email?: string | null;

  @Phone({
    ...REMOVABLE,
    example: undefined,
    description: "Replaces the phone. Needs its country code, unless it is in the waitlist's default region.",
  })
  phone?: string | null;

  @PersonName({ ...REMOVABLE, example: undefined })
  first_name?: string | null;

  @PersonName({ ...REMOVABLE, example: undefined })
  last_name?: string | null;

  @Flag({
    optional: true,
    description:
      'Whether the email is verified. True has the effect of a click on the link of a verification mail: a pending Waiter joins the queue, and a credit that waits for it counts. False takes neither place nor credit.',
  })
  verified?: boolean;

  @OneOf({
    optional: true,
    enum: ['credited', 'refused'],
    description:
      'Approves or refuses the credit of the referral. Where people verify their emails, an approved credit counts once that is done. 422 for a Waiter that nobody referred.',
  })
  credit?: 'credited' | 'refused';

  static toChanges(body: UpdateWaiterDto): PersonChanges {
    return {
      email: body.email,
      phone: body.phone,
      firstName: body.first_name,
      lastName: body.last_name,
      metadata: body.metadata,
      verified: body.verified,
      credit: body.credit,
      spotsToAdvance: body.spots_to_advance,
    };
  }
}
