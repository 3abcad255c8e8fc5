import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api';
import { sendsMail } from '../environment';
import { ProblemAlert } from '../parts/problem-alert';
import { useFocusKeeper } from '../parts/use-focus-keeper';
import { useMay } from '../roles';
import { type Kind, KINDS } from './mail-kinds';
import classes from './settings.module.css';

/** A mail with the saved words and invented values, and a button that mails it to the owner. */
export function MailPreview({
  waitlistId,
  kind,
  onKind,
  isDirty,
}: {
  waitlistId: number;
  kind: Kind;
  onKind: (kind: Kind) => void;
  isDirty: boolean;
}) {
  const path = { waitlist_id: waitlistId };
  const mayTest = useMay('editor');
  const preview = useQuery({
    queryKey: ['waitlists', waitlistId, 'mail_preview', kind],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}/mail_preview', { params: { path, query: { kind } }, signal })),
    placeholderData: keepPreviousData,
  });
  const test = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/api/v1/waitlist/{waitlist_id}/mail_test', { params: { path }, body: { kind } })),
    onSuccess: () => notifications.show({ message: 'A test is on its way to your email' }),
  });
  // The button is disabled until the answer.
  const keepFocus = useFocusKeeper(test.isPending);
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="The mail to preview"
        fullWidth
        data={KINDS.map(({ kind: value, title: label }) => ({ value, label }))}
        value={kind}
        onChange={(value) => {
          test.reset();
          onKind(value);
        }}
      />
      {preview.isError && <ProblemAlert error={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data && (
        <>
          <Text size="sm" fw={600} dir="auto" style={{ overflowWrap: 'anywhere' }}>
            {preview.data.subject}
          </Text>
          <div className={classes.stage}>
            <iframe className={classes.mail} title="The mail" sandbox="" srcDoc={preview.data.html} />
          </div>
        </>
      )}
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {isDirty ? 'Save to see your changes here.' : 'With invented values.'}
        </Text>
        {mayTest && (
          <Button
            size="compact-sm"
            variant="default"
            disabled={!sendsMail || isDirty}
            loading={test.isPending}
            onClick={() => {
              keepFocus();
              test.mutate();
            }}
          >
            Send me a test
          </Button>
        )}
      </Group>
      {test.isError && <ProblemAlert error={test.error} />}
    </Stack>
  );
}
