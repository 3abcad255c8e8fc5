import { Email } from '../platform/contract/fields.js';
import { WaitlistNameField } from '../waitlist/waitlist-name.js';

export class ResendVerificationDto {
  @WaitlistNameField({
    description:
      'The waitlist of the signup. Also accepted: the id as text, its public key, and either of them as `api_key` in place of `waitlist_id`.',
    orIn: 'api_key',
    example: 1,
  })
  waitlist_id?: number | string;

  @WaitlistNameField({ isHidden: true, optional: true, unlessIn: 'waitlist_id' })
  api_key?: number | string;

  @Email({ description: 'The email of the signup.' })
  email!: string;
}
