/**
 * The signup form of a waitlist in any page: `<waitlist-signup waitlist-id="1">`, or the container of the hosted
 * product. It is drawn in a shadow root with constructed style sheets, so the page's policy has to allow nothing but
 * this host.
 */
import { type ComponentChildren, render } from 'preact';
import { type ShownCaptcha, showCaptcha } from '../page/captcha.js';
import { formFields } from '../page/form-fields.js';
import { Header } from '../page/header.js';
import type { Fault, Leader, PublicWaitlist, Status, Values } from '../page/model.js';
import sharedCss from '../page/shared.css?inline';
import { enableSharing } from '../page/share.js';
import { SignupForm } from '../page/signup-form.js';
import { type Resend, StatusView } from '../page/status.js';
import { DEFAULT_TEXTS, ENGLISH, type Texts, textsOf } from '../page/texts.js';
import { themeOf } from '../page/theme.js';
import {
  find,
  getCatalog,
  getLeaders,
  getWaitlist,
  join,
  Refusal,
  resendVerification,
  sendHeartbeat,
  statusAddress,
} from './api.js';
import widgetCss from './widget.css?inline';

const ELEMENT = 'waitlist-signup';
const CONTAINER = '#getWaitlistContainer';
const RULE_BROKEN = 422;

const shared = [sharedCss, widgetCss].map((text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
});

/** A person who joined. */
interface Joined {
  readonly status: Status;
  readonly leaders: readonly Leader[];
  /** As it was typed; empty if it was not. */
  readonly email: string;
}

/** The form as it is shown: empty, under way, or with the faults of the last attempt. */
interface Shown {
  readonly values?: Values;
  readonly faults?: readonly Fault[];
  readonly message?: string | null;
  readonly isBusy?: boolean;
}

/** As a signup takes it. */
const REFERRAL_LINK_LENGTH_MAX = 2048;

class WaitlistSignup extends HTMLElement {
  static readonly observedAttributes = ['waitlist-id'];
  private readonly root = this.attachShadow({ mode: 'open' });
  private readonly theme = new CSSStyleSheet();
  private readonly height = new CSSStyleSheet();
  private waitlist!: PublicWaitlist;
  private catalog = ENGLISH;
  private texts = DEFAULT_TEXTS;
  private openedAt = '';
  private captcha: ShownCaptcha | null = null;
  private isBusy = false;
  private loadedId: string | null = null;

  attributeChangedCallback(): void {
    this.root.adoptedStyleSheets = [...shared, this.theme, this.height];
    void this.load();
  }

  /** One request at a time; a second click does nothing. */
  private async alone(work: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    await work().finally(() => (this.isBusy = false));
    if (this.getAttribute('waitlist-id') !== this.loadedId) await this.load();
  }

  private load(): Promise<void> {
    return this.alone(async () => {
      this.loadedId = this.getAttribute('waitlist-id');
      this.removeCaptcha();
      try {
        const waitlist = await getWaitlist(this.loadedId ?? '');
        this.openedAt = waitlist.now;
        await this.take(waitlist);
      } catch (error) {
        if (!(error instanceof Refusal) || error.isTemporary) return this.showAway();
        // Only the owner of the page can fix a wrong id, so it goes to the console.
        console.error(`<${ELEMENT}>: ${error.detail}`);
        return render(null, this.root);
      }
      const { scheme, properties } = themeOf(this.waitlist.configuration_style_json);
      const rules = Object.entries({ ...properties, ...(scheme && { 'color-scheme': scheme }) });
      this.theme.replaceSync(`:host{${rules.map((rule) => rule.join(':')).join(';')}}`);
      this.showForm({});
      sendHeartbeat(this.waitlist, this.getAttribute('widget-type'));
    });
  }

  /** The settings, and the texts in their language. */
  private async take(waitlist: PublicWaitlist): Promise<void> {
    this.catalog = await getCatalog(waitlist, this.catalog);
    this.waitlist = waitlist;
    this.texts = textsOf(waitlist, this.catalog);
  }

  private submit(form: HTMLFormElement): Promise<void> {
    return this.alone(async () => {
      const { waitlist } = this;
      const sent = valuesOf(form);
      this.showForm({ values: sent, isBusy: true });
      try {
        const status = await (waitlist.is_closed ? find : join)(requestOf(waitlist, this.texts, sent, this.openedAt));
        this.showStatus({ status, leaders: await getLeaders(waitlist).catch(() => []), email: sent.email ?? '' });
        enableSharing(this.root);
        // People who hear the page hear where they stand.
        this.root.querySelector<HTMLElement>('.waitlist-card')?.focus();
      } catch (error) {
        const values = valuesOf(form);
        this.captcha?.renew();
        // The rule that refused it may be newer than the form.
        if (error instanceof Refusal && error.status === RULE_BROKEN)
          await this.take(await getWaitlist(String(waitlist.id)).catch(() => waitlist));
        if (error instanceof Refusal && error.code === 'WAITLIST_CLOSED') {
          this.waitlist = { ...this.waitlist, is_closed: true };
          this.showForm({ values });
        } else this.showForm({ values, ...this.explain(error) });
        this.root.querySelector<HTMLElement>('.waitlist-summary')?.focus();
      }
    });
  }

  private resend(joined: Joined): Promise<void> {
    return this.alone(async () => {
      const { text } = this.texts;
      this.showStatus(joined, { outcome: null, isBusy: true });
      try {
        await resendVerification(this.waitlist.id, joined.email);
        this.showStatus(joined, { outcome: text('resent') });
      } catch (error) {
        this.showStatus(joined, { outcome: this.explain(error).message ?? text('unavailable') });
      }
    });
  }

  private explain(error: unknown): Pick<Shown, 'faults' | 'message'> {
    const { text } = this.texts;
    if (!(error instanceof Refusal)) return { message: text('unavailable') };
    if (error.faults.length > 0) return { faults: error.faults };
    if (error.code === 'NO_WAITER_FOUND') return { message: text('not_found') };
    if (error.isTemporary) return { message: text(error.status === 429 ? 'too_many_requests' : 'unavailable') };
    return { message: text('invalid') };
  }

  private showAway(): void {
    const { text } = DEFAULT_TEXTS;
    render(
      <p class="waitlist-away" lang="en" role="status">
        {text('unavailable')}{' '}
        <button type="button" onClick={() => void this.load()}>
          {text('retry')}
        </button>
      </p>,
      this.root,
    );
  }

  private showForm(shown: Shown): void {
    const { waitlist, texts } = this;
    // A lookup needs no captcha.
    const asked = waitlist.is_closed ? { ...waitlist, captcha: null } : waitlist;
    // More than one field has no place in a row.
    const isRow = this.getAttribute('layout') === 'row' && formFields(asked, texts).length === 1 && !asked.captcha;
    this.show(
      <>
        <Header waitlist={waitlist} texts={texts} heading="h2" showsTitle={!isRow && !waitlist.remove_widget_headers} />
        <SignupForm
          waitlist={asked}
          hasPlaceholder={isRow}
          texts={texts}
          action=""
          onSubmit={(event) => {
            event.preventDefault();
            void this.submit(event.currentTarget);
          }}
          {...shown}
        />
      </>,
      // What follows on the page never moves up while somebody fills in the form.
      `min-height:${this.offsetHeight}px`,
      isRow ? 'waitlist-card waitlist-row' : undefined,
    );
  }

  private showStatus(joined: Joined, resending: Pick<Resend, 'outcome' | 'isBusy'> = { outcome: null }): void {
    const { waitlist, texts } = this;
    const { status, leaders, email } = joined;
    const onSubmit = (event: Event) => {
      event.preventDefault();
      void this.resend(joined);
    };
    this.show(
      <>
        <StatusView
          waitlist={waitlist}
          status={status}
          leaders={leaders}
          texts={texts}
          resend={email === '' ? undefined : { action: '', onSubmit, ...resending }}
          address={email.trim() || undefined}
          heading="h2"
        />
        {/* Nothing is stored, so after a reload this page no longer knows the person. */}
        {status.status === 'waiting' && (
          <p class="waitlist-note waitlist-bookmark">
            <a href={statusAddress(waitlist, status)} target="_blank" rel="noopener noreferrer">
              {texts.text('private_page')}
            </a>
          </p>
        )}
      </>,
      // The height of the form would be an empty space, and whoever joined is led to the card.
      'min-height:0!important',
    );
  }

  private show(content: ComponentChildren, height: string, name = 'waitlist-card'): void {
    const { lang, direction } = this.texts;
    this.height.replaceSync(`:host{${height}}`);
    render(
      <div class={name} lang={lang} dir={direction} tabIndex={-1} onClick={followFragment}>
        {content}
      </div>,
      this.root,
    );
    // A form keeps its captcha, however often it is drawn.
    if (!this.root.querySelector('.waitlist-captcha')) this.removeCaptcha();
    this.captcha ??= showCaptcha(this.root, this);
  }

  private removeCaptcha(): void {
    this.captcha?.remove();
    this.captcha = null;
  }
}

/** Fragments lead to nothing in a shadow root. */
function followFragment(event: Event): void {
  const target = event.target as Element;
  const fragment = target.closest('a')?.getAttribute('href');
  if (!fragment?.startsWith('#')) return;
  event.preventDefault();
  (target.getRootNode() as ShadowRoot).getElementById(fragment.slice(1))?.focus();
}

function valuesOf(form: HTMLFormElement): Values {
  return Object.fromEntries(new FormData(form)) as Values;
}

/** The contact data that was given, and, for a signup, the answers to all questions, in their order. */
function requestOf(waitlist: PublicWaitlist, texts: Texts, values: Values, openedAt: string): Record<string, unknown> {
  const fields = formFields(waitlist, texts);
  const contact = fields.filter(({ name, questionId }) => questionId === null && values[name]?.trim());
  return {
    waitlist_id: waitlist.id,
    ...Object.fromEntries(contact.map(({ name }) => [name, values[name]])),
    ...(!waitlist.is_closed && {
      referral_link: referralLink(),
      form_opened_at: openedAt,
      website: values.website,
      ...(waitlist.captcha && { captcha_token: values.captcha_token }),
      answers: waitlist.questions.map(({ question_value }, index) => ({
        question_value,
        answer_value: values[`answers[${index}]`] || null,
      })),
    }),
  };
}

/** The address of this page. Of one that a signup would refuse, the token alone. */
function referralLink(): string {
  const { href, origin, searchParams } = new URL(document.URL);
  if (href.length <= REFERRAL_LINK_LENGTH_MAX) return href;
  return `${origin}?ref_id=${searchParams.get('ref_id') ?? ''}`.slice(0, REFERRAL_LINK_LENGTH_MAX);
}

/** Puts the element into the hosted product's containers, which then look and behave the same. */
function fillContainers(): void {
  for (const container of document.querySelectorAll<HTMLElement>(CONTAINER)) {
    const { waitlist_id: id, widget_type: type } = container.dataset;
    if (id === undefined || container.querySelector(ELEMENT)) continue;
    const element = document.createElement(ELEMENT);
    if (type !== undefined) element.setAttribute('widget-type', type);
    element.setAttribute('waitlist-id', id);
    container.append(element);
  }
}

// A page with two forms may load the script twice.
if (!customElements.get(ELEMENT)) {
  customElements.define(ELEMENT, WaitlistSignup);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', fillContainers);
  else fillContainers();
}
