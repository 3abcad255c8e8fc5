import { ApiProperty } from '@nestjs/swagger';
import { AnyText } from '../platform/contract/fields.js';
import { UUID_SCHEMA } from '../platform/contract/formats.js';
import { WaitlistNameField } from './waitlist-name.js';

/** Longer than browsers make addresses; none of it is kept. */
const ADDRESS_LENGTH_MAX = 8192;

export class CreateHeartbeatDto {
  @WaitlistNameField({
    description: 'The waitlist of the page. Its public key and a numeric string are accepted too.',
    orIn: 'api_key',
    example: 1,
  })
  waitlist_id?: number | string;

  @WaitlistNameField({ isHidden: true, optional: true, unlessIn: 'waitlist_id' })
  api_key?: number | string;

  @AnyText({
    maxLength: ADDRESS_LENGTH_MAX,
    description: 'Address of the page. It is not kept.',
    example: 'https://example.com/join',
  })
  location!: string;

  @AnyText({
    maxLength: ADDRESS_LENGTH_MAX,
    description: 'Address of the page before, or empty text. It is not kept.',
    example: '',
  })
  referrer!: string;

  @AnyText({
    maxLength: 64,
    optional: true,
    nullable: true,
    description: 'The kind of widget on the page. It is not kept.',
    example: 'WIDGET_1',
  })
  widget_type?: string | null;
}

export class HeartbeatDto {
  @ApiProperty({ ...UUID_SCHEMA, description: 'A new UUID. It is stored nowhere.' })
  uuid!: string;
}
