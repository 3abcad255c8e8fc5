import { Button } from '@mantine/core';
import { basePath } from '../environment';
import { expectLogin } from '../session';

/** Leads to the provider of single sign-on, and from there back to the desk. */
export function ProviderButton({ name, isInNewTab = false }: { name: string; isInNewTab?: boolean }) {
  return (
    <Button
      component="a"
      href={`${basePath}/api/v1/auth/sso`}
      variant="default"
      onClick={expectLogin}
      // The other tab tells this one of the sign-in.
      {...(isInNewTab && { target: '_blank', rel: 'noopener' })}
    >
      Sign in with {name}
    </Button>
  );
}
