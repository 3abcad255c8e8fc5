import { ApiProperty } from '@nestjs/swagger';
import { AnyText } from '../platform/contract/fields.js';
import { CURRENT_PASSWORD, OTP } from './auth.dto.js';
import { type NewSecret, RECOVERY_CODES } from './two-factor.service.js';

export class SetUpTwoFactorDto {
  @AnyText(CURRENT_PASSWORD)
  current_password!: string;
}

export class OtpDto {
  @AnyText(OTP)
  otp!: string;
}

export class DisableTwoFactorDto {
  @AnyText(CURRENT_PASSWORD)
  current_password!: string;

  @AnyText(OTP)
  otp!: string;
}

export class NewTwoFactorDto {
  @ApiProperty({
    description: 'To be typed into an authenticator app: base 32 without padding. Shown once.',
    maxLength: 32,
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  })
  secret!: string;

  @ApiProperty({
    description: 'The same for a QR code: SHA-1, 6 digits, 30 seconds.',
    maxLength: 2048,
    example: 'otpauth://totp/waitlist.example.com:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=…',
  })
  otpauth_url!: string;

  static from({ secret, otpauthUrl }: NewSecret): NewTwoFactorDto {
    return { secret, otpauth_url: otpauthUrl };
  }
}

const EXAMPLE_CODES = [
  'q5hz-2kfa-x7mw-tn3c',
  'qwb5-pdkh-x6py-gpan',
  '2rly-kei4-iiaa-nnkk',
  'sumn-lmyt-bx2k-jqev',
  'tave-twt6-ul66-ldqb',
  'wzb2-xya4-clmh-p5ww',
  'q5gx-sc3f-nvxj-vrft',
  'utlf-jt6k-dfzc-pwq5',
  '2jdc-7vni-i2gk-3xjd',
  '2sj5-k57u-6rs6-zjhy',
];

export class RecoveryCodesDto {
  @ApiProperty({
    type: 'array',
    minItems: RECOVERY_CODES,
    maxItems: RECOVERY_CODES,
    items: { type: 'string', maxLength: 19 },
    description: 'Each stands for `otp` once. Shown once, and kept as hashes.',
    example: EXAMPLE_CODES,
  })
  recovery_codes!: readonly string[];

  static from(codes: readonly string[]): RecoveryCodesDto {
    return { recovery_codes: codes };
  }
}
