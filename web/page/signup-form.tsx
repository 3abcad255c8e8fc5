/** @jsxImportSource preact */
import type { ComponentChildren, SubmitEventHandler } from 'preact';
import type { Captcha } from './captcha-providers.js';
import { type FaultyField, type ShownFault, shownFaults } from './faults.js';
import { type FormField, formFields, missingFaults, renamed } from './form-fields.js';
import type { Fault, PublicWaitlist, Values } from './model.js';
import type { Texts } from './texts.js';

interface FormProps {
  readonly waitlist: PublicWaitlist;
  readonly texts: Texts;
  /** Where the form goes without a script. */
  readonly action: string;
  /** The fields of the form as it was sent, from which the questions may have changed since. */
  readonly values?: Values;
  /** The fields that the API refused. */
  readonly faults?: readonly Fault[];
  /** Why the API refused the request as a whole. */
  readonly message?: string | null;
  /** While a script sends the form. */
  readonly isBusy?: boolean;
  /** Repeats the label within the input, where a style sheet hides it. */
  readonly hasPlaceholder?: boolean;
  readonly onSubmit?: SubmitEventHandler<HTMLFormElement>;
  /** Hidden inputs. */
  readonly children?: ComponentChildren;
}

/** The form of a waitlist, with the faults of its last attempt: all of them in a summary, and each at its input. */
export function SignupForm({ waitlist, texts, values = {}, faults = [], message = null, ...form }: FormProps) {
  const { text } = texts;
  const fields = formFields(waitlist, texts);
  const captcha = waitlist.captcha && { name: 'captcha_token', label: text('captcha') };
  const sent = renamed(waitlist, values, faults);
  // The API names what is missing only once all that was given has a valid form.
  const missing = sent.faults.length > 0 ? missingFaults(fields, sent.values) : [];
  const shown = shownFaults([...sent.faults, ...missing], captcha ? [...fields, captcha] : fields, texts);
  const faultOf = (field: FaultyField) => shown.find((fault) => fault.field === field)?.text ?? null;
  const button = waitlist.is_closed ? text('find_button') : (waitlist.signup_button_title ?? text('button'));
  const purpose = text('purpose');
  return (
    // The browser's own messages are in its own language, and show one fault at a time.
    <form class="waitlist-form" method="post" action={form.action} noValidate onSubmit={form.onSubmit}>
      {(shown.length > 0 || message !== null) && <Summary shown={shown} message={message} texts={texts} />}
      {form.children}
      {!waitlist.is_closed && <Honeypot texts={texts} />}
      {fields.map((field) => (
        <Input
          // An answer that is being typed moves with its question.
          key={field.questionId ?? field.name}
          field={field}
          value={sent.values[field.name] ?? ''}
          fault={faultOf(field)}
          placeholder={form.hasPlaceholder ? field.label : undefined}
          texts={texts}
        />
      ))}
      {waitlist.captcha && captcha && (
        <CaptchaField {...waitlist.captcha} field={captcha} fault={faultOf(captcha)} texts={texts} />
      )}
      <button class="waitlist-button" type="submit" aria-disabled={form.isBusy}>
        {button}
      </button>
      {purpose !== '' && !waitlist.is_closed && <p class="waitlist-note">{purpose}</p>}
    </form>
  );
}

function Summary({ shown, message, texts: { text } }: { shown: ShownFault[]; message: string | null; texts: Texts }) {
  return (
    <div class="waitlist-summary" role="alert" tabIndex={-1} autoFocus>
      <strong>{message ?? text('errors')}</strong>
      {shown.length > 0 && (
        <ul>
          {shown.map(({ field, text: fault }) => (
            <li key={field?.name}>
              {field ? (
                <a href={`#${idOf(field)}`}>
                  {text('field_fault')
                    .split(/\{(field|fault)\}/)
                    .map((part) =>
                      part === 'field' ? <bdi key={part}>{field.label}</bdi> : part === 'fault' ? fault : part,
                    )}
                </a>
              ) : (
                fault
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface InputProps {
  readonly field: FormField;
  readonly value: string;
  readonly fault: string | null;
  readonly placeholder?: string | undefined;
  readonly texts: Texts;
}

function Input({ field, value, fault, placeholder, texts: { text } }: InputProps) {
  const id = idOf(field);
  const attributes = {
    id,
    name: field.name,
    class: 'waitlist-input',
    required: field.isRequired,
    'aria-invalid': fault !== null || undefined,
    'aria-describedby': fault === null ? undefined : `${id}-fault`,
  };
  return (
    <div class="waitlist-field">
      <label for={id}>
        <bdi>{field.label}</bdi>
        {field.isOptional && <span class="waitlist-optional"> {text('optional')}</span>}
      </label>
      {field.options ? (
        <select {...attributes}>
          <option value="">{text('choose')}</option>
          {field.options.map((option) => (
            <option key={option} value={option} selected={option === value}>
              {option}
            </option>
          ))}
        </select>
      ) : field.questionId !== null ? (
        <textarea {...attributes} rows={2} maxLength={field.maxLength} autocomplete={field.autocomplete} dir="auto">
          {value}
        </textarea>
      ) : (
        <input
          {...attributes}
          type={field.type}
          placeholder={placeholder}
          // The types of Preact need it.
          list={undefined}
          inputMode={field.type}
          autocomplete={field.autocomplete}
          maxLength={field.maxLength}
          // Addresses and numbers read from left to right in every language.
          dir={field.type === 'text' ? 'auto' : 'ltr'}
          autocapitalize={field.type === 'text' ? 'words' : 'none'}
          spellcheck={false}
          value={value}
        />
      )}
      {field.questionId !== null && (
        <input type="hidden" name={field.name.replace('answers', 'question_ids')} value={field.questionId} />
      )}
      {fault !== null && (
        <p class="waitlist-fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

/**
 * Programs fill it, because the style sheet alone hides it from people, keyboards, screen readers and password
 * managers.
 */
function Honeypot({ texts: { text } }: Pick<FormProps, 'texts'>) {
  return (
    <div class="waitlist-website">
      <label for="waitlist-website">{text('leave_empty')}</label>
      <input id="waitlist-website" name="website" autocomplete="off" tabIndex={-1} />
    </div>
  );
}

interface CaptchaFieldProps extends Captcha {
  readonly field: FaultyField;
  readonly fault: string | null;
  readonly texts: Texts;
}

/** A script draws the captcha: see captcha.ts. */
function CaptchaField({ provider, site_key, field, fault, texts: { text } }: CaptchaFieldProps) {
  const id = idOf(field);
  return (
    <div class="waitlist-field">
      <div
        id={id}
        class="waitlist-captcha"
        role="group"
        aria-label={field.label}
        aria-describedby={fault === null ? undefined : `${id}-fault`}
        tabIndex={-1}
        data-provider={provider}
        data-sitekey={site_key}
      >
        <noscript>
          <p class="waitlist-fault">{text('captcha_needs_script')}</p>
        </noscript>
        <slot name="captcha" />
      </div>
      <input type="hidden" name={field.name} />
      <p class="waitlist-fault waitlist-captcha-away" role="status" hidden>
        {text('captcha_away')}
      </p>
      {fault !== null && (
        <p class="waitlist-fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

/** `answers[0]` → `waitlist-answers-0`. */
function idOf({ name }: FaultyField): string {
  return `waitlist-${name.replace('[', '-').replace(']', '')}`;
}
