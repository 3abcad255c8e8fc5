import { Confirmation, Id, NestedList, Uuid } from '../platform/contract/fields.js';
import { RECORDS_PER_CALL_MAX } from './bounds.js';

/** Identifies a record. Clients send its other fields too; they are ignored. */
export class SignupUuidDto {
  @Uuid({ description: 'The `uuid` of the record.' })
  uuid!: string;
}

/** Records of one waitlist. */
export class EraseSignupsDto {
  @Id({ lenient: true, description: 'A waitlist of your account.', example: 1 })
  waitlist_id!: number;

  @NestedList(SignupUuidDto, {
    minItems: 1,
    maxItems: RECORDS_PER_CALL_MAX,
    description: 'The records. Those of other waitlists are ignored.',
  })
  signups!: SignupUuidDto[];
}

export class OffboardSignupsDto extends EraseSignupsDto {
  @Confirmation({ description: 'Must be true.', example: true })
  offboard_request!: boolean;
}

/** The uuids that a request names, as they are stored. */
export function uuidsOf({ signups }: Pick<EraseSignupsDto, 'signups'>): string[] {
  return signups.map(({ uuid }) => uuid.toLowerCase());
}
