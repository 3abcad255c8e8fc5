import { Button, Group, Paper, Radio, Stack, Text, Title } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { count, countPeople, size } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { saveFile } from '../parts/save-file';
import type { Waitlist } from '../queries';
import { type ExportFormat, exportStream, openTarget } from './export-file';
import { fileName } from './file-name';
import { ProgressBar } from './progress-bar';

/** A pause between two updates of the progress. */
const SHOW_MS = 200;

interface Progress {
  readonly bytes: number;
  readonly people: number;
  readonly since: number;
}

/** Everybody on the waitlist as a file, which an import takes back. */
export function ExportPanel({ waitlist }: { waitlist: Waitlist }) {
  const [format, setFormat] = useState<ExportFormat>('csv');
  const [progress, setProgress] = useState<Progress | null>(null);
  const stop = useRef<AbortController>(null);
  const total = waitlist.statistics.total_signups;

  const run = useMutation({
    mutationFn: async () => {
      const name = fileName(waitlist.waitlist_name, `.${format}`);
      const target = await openTarget(name);
      if (target === null) return null;
      const aborter = new AbortController();
      stop.current = aborter;
      const since = performance.now();
      let latest: Progress = { bytes: 0, people: 0, since };
      let shownAt = 0;
      setProgress(latest);
      const stream = await exportStream(
        waitlist.id,
        format,
        (bytes, people) => {
          latest = { bytes, people, since };
          if (performance.now() - shownAt < SHOW_MS) return;
          shownAt = performance.now();
          setProgress(latest);
        },
        aborter.signal,
      );
      // A stream that breaks off leaves no file, not half of one.
      if (target === 'collect') saveFile(name, await new Response(stream).blob());
      else await stream.pipeTo(target);
      return { name, ...latest };
    },
    onSettled: () => setProgress(null),
  });
  const wasStopped = run.error instanceof DOMException && run.error.name === 'AbortError';

  return (
    <Paper component="section" aria-labelledby="export" withBorder p="lg">
      <Stack>
        <div>
          <Title order={2} size="h4" id="export">
            Export
          </Title>
          <Text size="sm" c="dimmed" maw="var(--width-form)">
            Everyone on the waitlist now, let in or not, with answers, metadata and referrals. The file can be imported
            again. Its column position counts from 0, as the API does: 0 is number 1 in line.
          </Text>
        </div>
        <Radio.Group label="Format" value={format} onChange={(value) => setFormat(value)}>
          <Group mt="xs" gap="lg">
            <Radio value="csv" label="CSV, for spreadsheets" />
            <Radio value="ndjson" label="NDJSON, for programs" />
          </Group>
        </Radio.Group>
        {run.isError && !wasStopped && <ProblemAlert error={run.error} onRetry={() => run.mutate()} />}
        {progress && (
          <ProgressBar
            label={`Exporting: ${size(progress.bytes)}`}
            done={progress.people}
            total={total}
            since={progress.since}
            write={count}
          />
        )}
        <Group>
          <Button variant="default" leftSection={<DownloadIcon />} loading={run.isPending} onClick={() => run.mutate()}>
            Export {countPeople(total)}
          </Button>
          {progress && (
            <Button variant="default" onClick={() => stop.current?.abort()}>
              Stop
            </Button>
          )}
          <Text size="sm" role="status">
            {run.data && `Saved ${countPeople(run.data.people)} as ${run.data.name}, ${size(run.data.bytes)}.`}
          </Text>
        </Group>
      </Stack>
    </Paper>
  );
}
