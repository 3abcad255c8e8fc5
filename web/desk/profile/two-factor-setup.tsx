import { Center, Text } from '@mantine/core';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { CopyField } from '../parts/copy-field';
import classes from './profile.module.css';
import { ProofForm } from './proof-form';

const CODE_SIZE = 192;

/** First the password, then the secret and a code that shows that an app has it. */
export function TwoFactorSetup({
  onConfirmed,
  onCancel,
}: {
  onConfirmed: (recoveryCodes: readonly string[]) => void;
  onCancel: () => void;
}) {
  const [made, setMade] = useState<{ readonly secret: string; readonly otpauth_url: string } | null>(null);
  if (made === null)
    return (
      <ProofForm
        key="password"
        text="You need an authenticator app, such as a password manager or one on your phone."
        act="Go on"
        fields={['current_password']}
        onSend={async ({ current_password }) =>
          setMade(await bodyOf(api.POST('/api/v1/auth/two_factor', { body: { current_password } })))
        }
        onCancel={onCancel}
      />
    );
  return (
    <ProofForm
      key="code"
      act="Turn it on"
      fields={['otp']}
      codeHint="The six digits that your app shows now."
      onSend={async ({ otp }) => {
        const { recovery_codes } = await bodyOf(api.POST('/api/v1/auth/two_factor/confirm', { body: { otp } }));
        onConfirmed(recovery_codes);
      }}
      onCancel={onCancel}
    >
      <Text size="sm">Scan this with the app, or type the secret there. All your other logins end.</Text>
      <Center>
        <div className={classes.code}>
          <QRCodeSVG value={made.otpauth_url} size={CODE_SIZE} title="QR code of the secret" />
        </div>
      </Center>
      <CopyField label="Secret" value={made.secret} />
    </ProofForm>
  );
}
