/** The names of the tokens in the answer of a login, and of their security schemes. */
const ACCESS = 'access_token';
const REFRESH = 'refresh_token';

/**
 * Shows the contract in Swagger UI. A first start prints a link to /docs with the owner's values after the `#`, which
 * browsers never send. They fill in the examples, so that each operation works as it is, until the tab is closed.
 */
(async ({ src, dataset }) => {
  const darkScheme = matchMedia('(prefers-color-scheme: dark)');
  const followScheme = () => document.documentElement.classList.toggle('dark-mode', darkScheme.matches);
  darkScheme.addEventListener('change', followScheme);
  followScheme();

  const linked = new URLSearchParams(location.hash.slice(1));
  if (linked.has('api_key')) {
    sessionStorage.setItem('examples', JSON.stringify(Object.fromEntries(linked)));
    history.replaceState(null, '', location.pathname);
  }
  const spec = withOwnExamples(
    await (await fetch(new URL(`../../${dataset.document}`, src))).json(),
    JSON.parse(sessionStorage.getItem('examples') ?? '{}'),
  );
  const ui = SwaggerUIBundle({
    spec,
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
    syntaxHighlight: { theme: darkScheme.matches ? 'agate' : 'idea' },
    validatorUrl: null,
    plugins: [
      () => carryTokens(spec),
      () => showOwnResponses(spec, new URL('../errors', src).href),
      () => foldDescription,
      () => focusFirstField,
    ],
    onComplete: () => {
      const token = sessionStorage.getItem(ACCESS);
      // Without the scheme, Swagger UI drops the token, and it would be forgotten.
      if (token !== null && ACCESS in spec.components.securitySchemes)
        ui.getSystem().authActions.authorize(authorization(spec, { [ACCESS]: token }));
    },
  });
})(document.currentScript);

function withOwnExamples(spec, examples) {
  const { CreateTokens, ApiKey } = spec.components.schemas;
  // The document of the earlier generations has no account operations.
  if (!ApiKey) return spec;
  let text = JSON.stringify(spec);
  for (const [name, { example }] of Object.entries({ ...CreateTokens.properties, ...ApiKey.properties })) {
    if (examples[name] !== undefined) text = text.replaceAll(JSON.stringify(example), JSON.stringify(examples[name]));
  }
  const own = JSON.parse(text);
  for (const { parameters = [] } of Object.values(own.paths).flatMap((methods) => Object.values(methods))) {
    for (const parameter of parameters) if (parameter.name === 'api_key') parameter.example = examples.api_key;
  }
  return own;
}

/**
 * A plugin: a pair of tokens in an answer goes into Authorize. Swagger UI's own `persistAuthorization` would store the
 * refresh token too. Here only the access token survives a reload, until the tab is closed.
 */
function carryTokens(spec) {
  const keepAccessToken = ({ authSelectors }) => {
    const token = authSelectors.authorized().getIn([ACCESS, 'value']);
    if (token) sessionStorage.setItem(ACCESS, token);
    else sessionStorage.removeItem(ACCESS);
  };
  return {
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (act, system) => (authorized) => {
            act(withoutBearer(authorized));
            keepAccessToken(system);
          },
          logout: (act, system) => (names) => {
            act(names);
            keepAccessToken(system);
          },
        },
      },
      spec: {
        wrapActions: {
          setResponse:
            (act, { authActions }) =>
            (path, method, response) => {
              const { [ACCESS]: access, [REFRESH]: refresh } = response.body ?? {};
              if (access && refresh)
                authActions.authorize(authorization(spec, { [ACCESS]: access, [REFRESH]: refresh }));
              return act(path, method, response);
            },
        },
      },
    },
  };
}

/** Tokens by the name of their scheme, as Swagger UI keeps them. */
function authorization({ components }, tokens) {
  return Object.fromEntries(
    Object.entries(tokens).map(([name, value]) => [name, { name, value, schema: components.securitySchemes[name] }]),
  );
}

/** A token is often copied with the word before it. */
function withoutBearer(authorized) {
  return Object.fromEntries(
    Object.entries(authorized).map(([name, { value, ...scheme }]) => [
      name,
      { ...scheme, value: typeof value === 'string' ? value.trim().replace(/^Bearer\s+/i, '') : value },
    ]),
  );
}

/**
 * A plugin: an operation shows its own responses, failures only with codes and remedies. What all share is at the top.
 */
function showOwnResponses({ paths, components }, errors) {
  const commonHeaders = Object.keys(components.responses.BadRequest.headers);
  return {
    wrapComponents: {
      responses:
        (Responses, { React }) =>
        ({ path, method, responses, ...props }) => {
          const isOwn = (_, status) => !('$ref' in paths[path][method].responses[status]);
          const own = React.createElement(Responses, { ...props, path, method, responses: responses.filter(isOwn) });
          const link = React.createElement('a', { href: errors }, 'Errors');
          const note = React.createElement('p', { className: 'shared-failures' }, link, ' explains all failures.');
          return React.createElement(React.Fragment, null, own, note);
        },
      response:
        (Response, { React }) =>
        ({ code, response, ...props }) => {
          const shown = /^2/.test(code)
            ? response.update('headers', (headers) => headers?.filterNot((_, name) => commonHeaders.includes(name)))
            : response.delete('headers').delete('content');
          return React.createElement(Response, { ...props, code, response: shown });
        },
    },
  };
}

/** A plugin: folds the sections of the description, so that the operations are near the top. */
const foldDescription = {
  wrapComponents: {
    Markdown:
      (Markdown, { React }) =>
      (props) => {
        const [introduction, ...sections] = (props.source ?? '').split(/^## /m);
        if (sections.length === 0) return React.createElement(Markdown, props);
        return React.createElement(
          React.Fragment,
          null,
          React.createElement(Markdown, { ...props, source: introduction }),
          ...sections.map((section) => {
            const [title, ...lines] = section.split('\n');
            const text = React.createElement(Markdown, { ...props, source: lines.join('\n') });
            return React.createElement('details', { key: title }, React.createElement('summary', null, title), text);
          }),
        );
      },
  },
};

/** A plugin: focuses the first field of Authorize. Swagger UI focuses each field in turn, and ends at the last one. */
const focusFirstField = {
  wrapComponents: {
    authorizationPopup:
      (Popup, { React }) =>
      (props) => {
        React.useEffect(() => {
          document.querySelector('.modal-ux input')?.focus();
          document.querySelector('.modal-ux-content')?.scrollTo(0, 0);
        }, []);
        return React.createElement(Popup, props);
      },
  },
};
