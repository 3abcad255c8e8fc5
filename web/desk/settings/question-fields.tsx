import {
  ActionIcon,
  Alert,
  Button,
  Card,
  Checkbox,
  Group,
  Input,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { ArrowDownIcon, ArrowUpIcon, PlusIcon, TrashIcon } from '@radix-ui/react-icons';
import { type RefObject, useRef, useState } from 'react';
import { QUESTION } from '../bounds';
import type { components } from '../generated/openapi';
import type { Waitlist } from '../queries';
import { OWN_DIRECTION } from '../theme';

type ConfiguredQuestion = Waitlist['questions'][number];

/** A question as its fields hold it. */
export interface QuestionValues {
  /** Tells the fields of two questions apart while they are moved. */
  key: string;
  /** Null for a new one. */
  id: number | null;
  question_value: string;
  optional: boolean;
  isChoice: boolean;
  /** One per line. */
  choices: string;
}

/** Questions that were removed do not count, so this is no bound of the contract's list. */
const QUESTIONS_MAX = 3;
const KINDS = [
  { value: 'text', label: 'Free text' },
  { value: 'choice', label: 'Choices' },
];

/** The live questions, in order. */
export function questionsOf(questions: readonly ConfiguredQuestion[]): QuestionValues[] {
  return questions
    .filter(({ soft_deleted }) => !soft_deleted)
    .map(({ id, question_value, optional, answer_value }) => ({
      key: `question ${id}`,
      id,
      question_value,
      optional,
      isChoice: answer_value !== null,
      choices: answer_value?.join('\n') ?? '',
    }));
}

export function toQuestions(questions: readonly QuestionValues[]): components['schemas']['Question'][] {
  return questions.map(({ id, question_value, optional, isChoice, choices }) => ({
    ...(id !== null && { id }),
    question_value,
    optional,
    answer_value: isChoice ? choicesOf(choices) : null,
  }));
}

function choicesOf(lines: string): string[] {
  return lines.split('\n').flatMap((line) => line.trim() || []);
}

interface Form {
  questions: QuestionValues[];
}

interface QuestionList {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly addButton: RefObject<HTMLButtonElement | null>;
  /** The last change, for screen readers. */
  readonly announcement: string;
  readonly add: () => void;
  readonly move: (index: number, by: -1 | 1) => void;
  readonly remove: (index: number) => void;
  readonly restore: (question: QuestionValues) => void;
}

/** Changes the list of questions, and keeps the focus where the hand is. */
function useQuestionList<Values extends Form>(form: UseFormReturnType<Values>): QuestionList {
  const { questions } = form.values;
  const added = useRef(0);
  const list = useRef<HTMLDivElement>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const [announcement, setAnnouncement] = useState('');
  const setQuestions = (next: QuestionValues[]) => {
    form.clearErrors();
    form.setValues({ questions: next } as Partial<Values>);
  };
  const focus = (key: string, part: string) =>
    requestAnimationFrame(() => {
      const card = list.current?.querySelector(`[data-question="${key}"]`);
      const target = card?.querySelector<HTMLElement>(`[data-part="${part}"]:not([data-disabled])`);
      (target ?? card?.querySelector<HTMLElement>('[data-part="text"]'))?.focus();
    });
  const append = (question: QuestionValues) => {
    setQuestions([...questions, question]);
    focus(question.key, 'text');
  };
  return {
    list,
    addButton,
    announcement,
    add: () => {
      added.current += 1;
      const key = `new ${added.current}`;
      append({ key, id: null, question_value: '', optional: true, isChoice: false, choices: '' });
    },
    move: (index, by) => {
      const next = [...questions];
      const [moved] = next.splice(index, 1);
      if (!moved) return;
      next.splice(index + by, 0, moved);
      setQuestions(next);
      setAnnouncement(`Moved to place ${index + by + 1} of ${next.length}.`);
      // Moving an element takes the focus from it.
      focus(moved.key, by < 0 ? 'up' : 'down');
    },
    remove: (index) => {
      setQuestions(questions.filter((_, at) => at !== index));
      setAnnouncement('Question removed.');
      addButton.current?.focus();
    },
    restore: append,
  };
}

/** The questions of a form: add, rename, reorder, remove. */
export function QuestionFields<Values extends Form>({
  form,
  saved,
  removedBefore,
}: {
  form: UseFormReturnType<Values>;
  saved: readonly QuestionValues[];
  removedBefore: readonly ConfiguredQuestion[];
}) {
  const { questions } = form.values;
  const { list, addButton, announcement, add, move, remove, restore } = useQuestionList(form);
  const removed = saved.filter(({ id }) => !questions.some((question) => question.id === id));
  const isFull = questions.length >= QUESTIONS_MAX;
  return (
    <Stack ref={list}>
      {questions.length === 0 && (
        <Text size="sm" c="dimmed">
          The form asks no questions yet.
        </Text>
      )}
      {questions.map((question, index) => (
        <QuestionCard
          key={question.key}
          form={form}
          index={index}
          savedText={saved.find(({ id }) => id !== null && id === question.id)?.question_value}
          onMove={(by) => move(index, by)}
          onRemove={() => remove(index)}
        />
      ))}
      {removed.map((question) => (
        <Alert key={question.key} color="orange" variant="light" title={`“${question.question_value}” will be removed`}>
          <Group justify="space-between" gap="sm">
            <Text size="sm">New signups are no longer asked. Existing answers stay on each person and in exports.</Text>
            {!isFull && (
              <Button size="compact-sm" variant="default" onClick={() => restore(question)}>
                Keep it
              </Button>
            )}
          </Group>
        </Alert>
      ))}
      {form.errors.questions && (
        <Input.Error role="alert" tabIndex={-1} data-fault>
          {form.errors.questions}
        </Input.Error>
      )}
      <Group>
        <Button ref={addButton} variant="default" leftSection={<PlusIcon />} onClick={add} disabled={isFull}>
          Add question
        </Button>
        {isFull && (
          <Text size="sm" c="dimmed">
            A form has at most {QUESTIONS_MAX} questions.
          </Text>
        )}
      </Group>
      {removedBefore.length > 0 && (
        <Text size="sm" c="dimmed">
          Removed earlier, with their answers kept:{' '}
          {removedBefore.map(({ question_value }) => `“${question_value}”`).join(', ')}.
        </Text>
      )}
      <VisuallyHidden role="status">{announcement}</VisuallyHidden>
    </Stack>
  );
}

/** The fields of one question. `savedText` is missing for a new one. */
function QuestionCard<Values extends Form>({
  form,
  index,
  savedText,
  onMove,
  onRemove,
}: {
  form: UseFormReturnType<Values>;
  index: number;
  savedText: string | undefined;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}) {
  const { questions } = form.values;
  const question = questions[index] as QuestionValues;
  const name = `Question ${index + 1}`;
  const path = `questions.${index}`;
  const choiceFault = Object.entries(form.errors).find(([field]) => field.startsWith(`${path}.answer_value`))?.[1];
  return (
    <Card withBorder data-question={question.key} role="group" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" fw={600}>
            {name}
          </Text>
          <Group gap={4} wrap="nowrap">
            <ActionIcon
              variant="subtle"
              size="lg"
              data-part="up"
              disabled={index === 0}
              onClick={() => onMove(-1)}
              aria-label={`Move question ${index + 1} up`}
            >
              <ArrowUpIcon />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              size="lg"
              data-part="down"
              disabled={index === questions.length - 1}
              onClick={() => onMove(1)}
              aria-label={`Move question ${index + 1} down`}
            >
              <ArrowDownIcon />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              size="lg"
              color="red"
              onClick={onRemove}
              aria-label={`Remove question ${index + 1}`}
            >
              <TrashIcon />
            </ActionIcon>
          </Group>
        </Group>
        <TextInput
          label="Text"
          required
          maxLength={QUESTION.question_value.maxLength}
          attributes={OWN_DIRECTION}
          data-part="text"
          description={
            savedText !== undefined && savedText !== question.question_value
              ? `Renamed from “${savedText}”. The answers that people gave stay with this question.`
              : undefined
          }
          {...form.getInputProps(`${path}.question_value`)}
        />
        <Group justify="space-between" gap="sm">
          <SegmentedControl
            aria-label={`Kind of answer to question ${index + 1}`}
            data={KINDS}
            value={question.isChoice ? 'choice' : 'text'}
            onChange={(kind) => form.setFieldValue(`${path}.isChoice` as never, kind === 'choice')}
          />
          <Checkbox label="Optional" {...form.getInputProps(`${path}.optional`, { type: 'checkbox' })} />
        </Group>
        {question.isChoice && (
          <Textarea
            label="Choices"
            description="One per line. Answers that people gave stay as they are."
            attributes={OWN_DIRECTION}
            autosize
            minRows={2}
            maxRows={12}
            {...form.getInputProps(`${path}.choices`)}
            error={choiceFault}
          />
        )}
      </Stack>
    </Card>
  );
}
