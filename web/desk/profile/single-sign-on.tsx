import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, bodyOf } from '../api';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import type { Member } from '../queries';

/** Links the member to an identity at the provider, which then signs in. */
export function SingleSignOn({ me, name }: { me: Member; name: string }) {
  const link = useMutation({
    mutationFn: async () => {
      const { url } = await bodyOf(api.POST('/api/v1/auth/sso/link'));
      location.assign(url);
    },
  });
  const isLinked = me.sign_in.includes('sso');
  return (
    <Section title={`Single sign-on with ${name}`}>
      <Stack align="flex-start">
        {isLinked ? (
          <Text size="sm">You can sign in with {name}.</Text>
        ) : (
          <>
            <Text size="sm">
              Link your account at {name} to sign in with it from then on. It may have another email.
            </Text>
            <Button variant="default" loading={link.isPending} onClick={() => link.mutate()}>
              Link {name}
            </Button>
          </>
        )}
        {link.isError && <ProblemAlert error={link.error} />}
      </Stack>
    </Section>
  );
}
