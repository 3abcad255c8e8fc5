/** The texts of a mail. Each is shown as it is: an owner's text is never a template. */
export interface Content {
  readonly lang: string;
  readonly direction: 'ltr' | 'rtl';
  /** The name of the waitlist, at the top. */
  readonly name: string;
  readonly subject: string;
  /** Each paragraph is a list of lines. */
  readonly paragraphs: readonly (readonly string[])[];
  readonly button: { readonly label: string; readonly url: string } | null;
  /** About the button, below it; empty leaves it out. */
  readonly note: string;
  /** Below them, with their addresses. */
  readonly links: readonly { readonly label: string; readonly url: string }[];
}

/** Below all mails to visitors. */
export interface LeaveFooter {
  readonly text: string;
  readonly url: string;
}

interface Rendered {
  readonly html: string;
  readonly text: string;
}

/** Mail programs read tables and `style` attributes; few read a stylesheet, and some drop the attributes of `html`. */
const HTML = `<!doctype html>
<html lang="{{lang}}" dir="{{direction}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{subject}}</title>
</head>
<body style="margin:0;padding:0;background:#f5f6f7;">
<div role="main">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f5f6f7;">
<tr><td align="center" style="padding:32px 16px;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:480px;background:#ffffff;border:1px solid #e2e4e8;border-radius:12px;">
<tr><td dir="{{direction}}" style="padding:32px;text-align:start;color:#1a1d21;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;">
<h1 style="margin:0 0 24px;color:#5c636d;font-size:14px;font-weight:400;"><bdi>{{name}}</bdi></h1>
{{#each paragraphs}}
<p style="margin:0 0 16px;">{{#each this}}{{#unless @first}}<br>{{/unless}}{{this}}{{/each}}</p>
{{/each}}
{{#if button}}
<p style="margin:24px 0;"><a href="{{button.url}}" style="display:inline-block;padding:12px 24px;background:#1a1d21;color:#ffffff;font-weight:600;text-decoration:none;border-radius:8px;">{{button.label}}</a></p>
<p style="margin:0 0 16px;color:#5c636d;font-size:14px;word-break:break-all;"><a href="{{button.url}}" dir="ltr" style="color:#5c636d;">{{button.url}}</a></p>
{{/if}}
{{#if note}}
<p style="margin:0 0 16px;color:#5c636d;font-size:14px;">{{note}}</p>
{{/if}}
{{#each links}}
<p style="margin:0 0 16px;color:#5c636d;font-size:14px;">{{label}}<br><a href="{{url}}" style="color:#5c636d;word-break:break-all;">{{url}}</a></p>
{{/each}}
{{#if leave}}
<p style="margin:24px 0 0;padding:16px 0 0;border-top:1px solid #e2e4e8;color:#5c636d;font-size:14px;">{{leave.text}}<br><a href="{{leave.url}}" style="color:#5c636d;word-break:break-all;">{{leave.url}}</a></p>
{{/if}}
</td></tr>
</table>
</td></tr>
</table>
</div>
</body>
</html>
`;

const TEXT = `{{name}}

{{#each paragraphs}}
{{#each this}}
{{this}}
{{/each}}

{{/each}}
{{#if button}}
{{button.label}}:
{{button.url}}

{{/if}}
{{#if note}}
{{note}}

{{/if}}
{{#each links}}
{{label}}
{{url}}

{{/each}}
{{#if leave}}
{{leave.text}}
{{leave.url}}
{{/if}}
`;

type Whole = Content & { readonly leave: LeaveFooter | null };

let compiled: ReturnType<typeof compile> | undefined;

/** The mail as HTML and as plain text. `leave`: null for a mail to an owner, and where the button is that link. */
export async function render(content: Content, leave: LeaveFooter | null): Promise<Rendered> {
  const { html, text } = await (compiled ??= compile());
  const whole = { ...content, leave };
  return { html: html(whole), text: text(whole) };
}

/** Imports the library only here, so that a service that sends no mail does not load it. */
async function compile() {
  const { default: handlebars } = await import('handlebars');
  return {
    html: handlebars.compile<Whole>(HTML, { strict: true }),
    text: handlebars.compile<Whole>(TEXT, { strict: true, noEscape: true }),
  };
}
