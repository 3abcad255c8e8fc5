import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';

export interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root span. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'INTERNAL' | 'SERVER' | 'CLIENT';
  readonly attributes: Attributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly events: readonly { readonly name: string }[];
  readonly status: { readonly code?: 'ERROR'; readonly message?: string };
}

/** The fields of OpenTelemetry's trace.proto that the tests read. */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    Kind kind = 6;
    repeated KeyValue attributes = 9;
    repeated Event events = 11;
    repeated Link links = 13;
    Status status = 15;
  }
  enum Kind { UNSPECIFIED = 0; INTERNAL = 1; SERVER = 2; CLIENT = 3; }
  message Event { string name = 2; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; Code code = 3; }
  enum Code { UNSET = 0; OK = 1; ERROR = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; int64 int_value = 3; double double_value = 4; } }
`);
const Request = root.lookupType('Request');

type Attributes = Readonly<Record<string, string | number>>;
interface Decoded {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly DecodedSpan[] }[];
  }[];
}
type DecodedSpan = Omit<SeenSpan, 'attributes'> & { readonly attributes: readonly KeyValue[] };
interface KeyValue {
  readonly key: string;
  readonly value: Attributes;
}

/** An OTLP/HTTP receiver for traces. */
export class TraceCollector {
  readonly bodies: Buffer[] = [];
  readonly contentTypes = new Set<string | undefined>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      void buffer(request).then((body) => {
        if (request.method === 'POST' && request.url === '/v1/traces') collector.bodies.push(body);
        collector.contentTypes.add(request.headers['content-type']);
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get spans(): readonly SeenSpan[] {
    return this.decoded.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(seen))),
    );
  }

  /** The resource of the first spans. */
  get resource(): Attributes {
    return valuesOf(this.decoded[0]?.resourceSpans[0]?.resource.attributes ?? []);
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private get decoded(): readonly Decoded[] {
    const options = { enums: String, longs: Number, bytes: String, arrays: true };
    return this.bodies.map((body) => Request.toObject(Request.decode(body), options) as Decoded);
  }
}

function seen({ traceId, spanId, parentSpanId, links, attributes, ...rest }: DecodedSpan): SeenSpan {
  return {
    ...rest,
    traceId: hex(traceId),
    spanId: hex(spanId),
    parentSpanId: hex(parentSpanId),
    links: links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
    attributes: valuesOf(attributes),
  };
}

function valuesOf(attributes: readonly KeyValue[]): Attributes {
  return Object.fromEntries(attributes.flatMap(({ key, value }) => Object.values(value).map((only) => [key, only])));
}

function hex(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('hex');
}
