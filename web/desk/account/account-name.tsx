import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../api';
import { NameForm } from '../parts/name-form';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { accountQuery } from '../queries';

export function AccountName() {
  const queries = useQueryClient();
  const account = useQuery(accountQuery());
  if (account.isError) return <ProblemAlert error={account.error} onRetry={() => void account.refetch()} />;
  if (!account.data) return null;
  return (
    <Section title="Your organization">
      <NameForm
        label="Account name"
        description="Members and invited people see it. People on a waitlist never do."
        name={account.data.name}
        onSave={async (name) =>
          queries.setQueryData(accountQuery().queryKey, await bodyOf(api.PATCH('/api/v1/account', { body: { name } })))
        }
      />
    </Section>
  );
}
