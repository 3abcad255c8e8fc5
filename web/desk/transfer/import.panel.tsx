import { Alert, Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { Dropzone, type FileRejection } from '@mantine/dropzone';
import { FileTextIcon, UploadIcon } from '@radix-ui/react-icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FocusEvent, useEffect, useRef, useState } from 'react';
import { count, countPeople, size } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { latestImportQuery, type Waitlist, waitlistsQuery } from '../queries';
import { type Mapping, usesOf } from '../../../src/transfer/column-names';
import { ColumnList } from './column-list';
import { COLUMN_NAMES, hasContact } from './columns';
import { type FileHead, readHead } from './file-head';
import {
  forgetImport,
  type ImportProgress,
  type ImportReport,
  type ImportRun,
  startImport,
  useImportRun,
} from './import-runs';
import { ProgressBar } from './progress-bar';
import { Report } from './report';

/** As the service. */
const FILE_BYTES_MAX = 1024 ** 3;

/** A file is looked at, checked by a dry run, and imported. */
export function ImportPanel({ waitlist }: { waitlist: Waitlist }) {
  const queries = useQueryClient();
  const run = useImportRun(waitlist.id);
  const latest = useQuery(latestImportQuery(waitlist.id));
  const [chosen, setChosen] = useState<{ file: File; head: FileHead; mapping: Mapping } | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);

  // The totals have changed, and so has the latest import.
  const state = run && !run.isDryRun ? run.state : null;
  useEffect(() => {
    if (state !== null && state !== 'running') void queries.invalidateQueries({ queryKey: waitlistsQuery().queryKey });
    if (state === 'out-of-sight') forgetImport(waitlist.id);
  }, [state, queries, waitlist.id]);

  const choose = async (file: File) => {
    setRefusal(null);
    forgetImport(waitlist.id);
    try {
      setChosen({ file, head: await readHead(file), mapping: {} });
    } catch (error) {
      setChosen(null);
      setRefusal(`${file.name}: ${(error as Error).message}`);
    }
  };
  const start = (file: File, mapping: Mapping, isDryRun: boolean, report: ImportReport | null) =>
    void startImport(waitlist.id, file, { mapping, isDryRun, lines: report && linesOf(report) });
  const chooseAnother = () => {
    setChosen(null);
    forgetImport(waitlist.id);
  };
  const step = stepOf(run, latest.data?.state === 'running', chosen !== null);
  const { heading, onFocus } = useStepFocus(step);

  return (
    <Paper component="section" aria-labelledby="import" withBorder p="lg" onFocus={onFocus}>
      <Stack>
        <div>
          <Title order={2} size="h4" id="import">
            Import
          </Title>
          <Text size="sm" c="dimmed" maw="var(--width-form)">
            People join behind those who are in line already, by their time of joining, and without one in the order of
            the file. People already on the waitlist are skipped.
          </Text>
        </div>
        {/* A new element for each step, so that a screen reader announces it. */}
        <Title order={3} size="h5" key={step} ref={heading} tabIndex={-1}>
          {step}
        </Title>
        {body()}
      </Stack>
    </Paper>
  );

  function body() {
    if (run?.state === 'running') return <Running file={run.file} isDryRun={run.isDryRun} progress={run.progress} />;
    if (run?.state === 'failed') {
      const retry = () => start(run.file, run.mapping, run.isDryRun, null);
      return <Failed file={run.file} error={run.error} onRetry={retry} onAgain={chooseAnother} />;
    }
    if (run?.state === 'done') {
      const { file, mapping, report } = run;
      const done = { file, report, waitlist, onAgain: chooseAnother };
      if (!run.isDryRun) return <Imported {...done} />;
      const change = chosen ? () => forgetImport(waitlist.id) : null;
      return <Checked {...done} onImport={() => start(file, mapping, false, report)} onChange={change} />;
    }
    if (latest.data?.state === 'running') return <RunningOutOfSight />;
    if (chosen) {
      const check = () => start(chosen.file, chosen.mapping, true, null);
      const map = (mapping: Mapping) => setChosen({ ...chosen, mapping });
      return <Chosen {...chosen} onMap={map} onCheck={check} onAgain={chooseAnother} />;
    }
    return (
      <>
        <Drop onFile={(file) => void choose(file)} onRefusal={setRefusal} />
        {refusal !== null && (
          <Alert color="red" variant="light" role="alert">
            <Text size="sm">{refusal}</Text>
          </Alert>
        )}
        {latest.isError && <ProblemAlert error={latest.error} onRetry={() => void latest.refetch()} />}
        {latest.data && <Latest latest={latest.data} waitlist={waitlist} />}
      </>
    );
  }
}

/** The heading of the step that the panel shows. */
function stepOf(run: ImportRun | null, isOutOfSight: boolean, isChosen: boolean): string {
  if (run?.state === 'running') return run.isDryRun ? 'Checking the file' : 'Importing the file';
  if (run?.state === 'failed') return run.isDryRun ? 'The check failed' : 'The import failed';
  if (run?.state === 'done') return run.isDryRun ? 'Result of the check' : 'Result of the import';
  if (isOutOfSight) return 'An import is running';
  return isChosen ? 'Choose what the columns are' : 'Choose a file';
}

/**
 * Moves the focus to the heading of the next step if the focused element of the panel is gone. Otherwise the focus
 * stays: a step also changes when an import is found running.
 */
function useStepFocus(step: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  const focused = useRef<Element>(null);
  useEffect(() => {
    const isGone = focused.current?.isConnected === false;
    if (isGone && document.activeElement === document.body) heading.current?.focus();
  }, [step]);
  const onFocus = ({ target }: FocusEvent) => {
    focused.current = target;
  };
  return { heading, onFocus };
}

function Drop({ onFile, onRefusal }: { onFile: (file: File) => void; onRefusal: (sentence: string) => void }) {
  const refuse = ([rejection]: FileRejection[]) => {
    if (!rejection) return;
    const { file, errors } = rejection;
    const isLarge = errors.some(({ code }) => code === 'file-too-large');
    const isMany = errors.some(({ code }) => code === 'too-many-files');
    const max = size(FILE_BYTES_MAX);
    if (isMany) onRefusal('Choose one file at a time.');
    else if (isLarge) onRefusal(`${file.name} has ${size(file.size)}. An import takes at most ${max}: split the file.`);
    else onRefusal(`${file.name} is not a CSV file. Save the list as CSV in UTF-8, then choose that.`);
  };
  return (
    <Stack gap="xs">
      <Dropzone
        onDrop={([file]) => file && onFile(file)}
        onReject={refuse}
        accept={{ 'text/csv': ['.csv'], 'text/tab-separated-values': ['.tsv'], 'text/plain': ['.txt'] }}
        maxSize={FILE_BYTES_MAX}
        multiple={false}
        inputProps={{ 'aria-label': 'CSV file' }}
        aria-label="Choose a CSV file"
        p="xl"
      >
        <Stack align="center" gap={4}>
          <UploadIcon width={24} height={24} aria-hidden />
          <Text fw={500} ta="center">
            Drop a CSV file here, or choose one
          </Text>
          <Text size="sm" c="dimmed" ta="center">
            The first line names the columns. You say what each is in the next step.
          </Text>
        </Stack>
      </Dropzone>
      <Text size="sm" c="dimmed" component="details">
        <summary>Columns that an import knows</summary>
        {COLUMN_NAMES.join(', ')}. Other names, such as First Name, Signup Date or Referred By, are recognized too.
      </Text>
    </Stack>
  );
}

function FileLine({ file }: { file: File }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <FileTextIcon aria-hidden />
      <Text size="sm" fw={500} truncate>
        {file.name}
      </Text>
      <Text size="sm" c="dimmed" flex="none">
        {size(file.size)}
      </Text>
    </Group>
  );
}

function Again({ onClick }: { onClick: () => void }) {
  return (
    <Group>
      <Button variant="default" onClick={onClick}>
        Choose another file
      </Button>
    </Group>
  );
}

function Running({ file, isDryRun, progress }: { file: File; isDryRun: boolean; progress: ImportProgress }) {
  const { phase } = progress;
  const label = {
    uploading: 'Uploading the file',
    reading: 'Reading the lines',
    writing: isDryRun ? 'Checking the people' : 'Importing the people',
  }[phase];
  return (
    <>
      <FileLine file={file} />
      <ProgressBar
        key={phase}
        label={label}
        done={progress.done}
        total={progress.total}
        since={progress.since}
        write={phase === 'uploading' ? size : count}
      />
      {!isDryRun && (
        <Text size="sm" c="dimmed">
          {phase === 'uploading'
            ? 'Keep this window open until the upload is complete.'
            : 'You may leave this page: the import goes on, and its report will appear here.'}
        </Text>
      )}
    </>
  );
}

/** The import of another window, or one whose connection broke. */
function RunningOutOfSight() {
  return (
    <Stack gap={4}>
      <Text size="sm" role="status">
        An import is running. You may leave this page: the import goes on, and its report will appear here.
      </Text>
      <Progress.Root size="lg">
        <Progress.Section value={100} animated aria-label="An import is running" />
      </Progress.Root>
    </Stack>
  );
}

function Failed(props: { file: File; error: unknown; onRetry: () => void; onAgain: () => void }) {
  return (
    <>
      <FileLine file={props.file} />
      <ProblemAlert error={props.error} onRetry={props.onRetry} />
      <Again onClick={props.onAgain} />
    </>
  );
}

interface DoneProps {
  file: File;
  report: ImportReport;
  waitlist: Waitlist;
  onAgain: () => void;
}

function Checked({
  file,
  report,
  waitlist,
  onAgain,
  onImport,
  onChange,
}: DoneProps & { onImport: () => void; onChange: (() => void) | null }) {
  return (
    <>
      <FileLine file={file} />
      <Report report={report} isDryRun waitlist={waitlist} />
      <Group>
        {report.imported > 0 && <Button onClick={onImport}>Import {countPeople(report.imported)}</Button>}
        {onChange && (
          <Button variant="default" onClick={onChange}>
            Change the columns
          </Button>
        )}
        <Again onClick={onAgain} />
      </Group>
    </>
  );
}

function Imported({ file, report, waitlist, onAgain }: DoneProps) {
  return (
    <>
      <FileLine file={file} />
      <Report report={report} isDryRun={false} waitlist={waitlist} />
      <Again onClick={onAgain} />
    </>
  );
}

function Chosen(props: {
  file: File;
  head: FileHead;
  mapping: Mapping;
  onMap: (mapping: Mapping) => void;
  onCheck: () => void;
  onAgain: () => void;
}) {
  const { file, head, mapping, onMap, onCheck, onAgain } = props;
  return (
    <>
      <FileLine file={file} />
      <ColumnList head={head} mapping={mapping} onMap={onMap} />
      <Group>
        <Button disabled={!hasContact(usesOf(head.headers, mapping))} onClick={onCheck}>
          Check the file
        </Button>
        <Again onClick={onAgain} />
      </Group>
      <Text size="sm" c="dimmed">
        The check reads every line and changes nothing.
      </Text>
    </>
  );
}

function Latest({ latest, waitlist }: { latest: { state: string; report: ImportReport | null }; waitlist: Waitlist }) {
  if (latest.state === 'failed')
    return (
      <Alert color="orange" variant="light" title="The latest import was interrupted">
        Import the same file again, with the same columns. It continues where it stopped, and nobody is added twice.
      </Alert>
    );
  if (!latest.report) return null;
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        The latest import
      </Title>
      <Report report={latest.report} isDryRun={false} waitlist={waitlist} />
    </Stack>
  );
}

function linesOf({ imported, skipped, rejected }: ImportReport): number {
  return imported + skipped + rejected;
}
