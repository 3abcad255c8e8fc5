import { WaitlistViewDto } from '../waitlist/waitlist.dto.js';
import { type WaitlistName, WaitlistNameField } from '../waitlist/waitlist-name.js';

/** The query names the waitlist in one of two ways. */
export class ViewWaitlistDto implements WaitlistName {
  @WaitlistNameField({ description: 'The id or the public key of the waitlist.', orIn: 'api_key', example: 1 })
  waitlist_id?: number | string;

  @WaitlistNameField({
    optional: true,
    unlessIn: 'waitlist_id',
    description: 'The public key of the waitlist, if there is no `waitlist_id`.',
  })
  api_key?: number | string;
}

export class NamedWaitlistViewDto extends WaitlistViewDto {}
