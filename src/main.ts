import { onStopSignal } from './platform/shutdown.js';

// All else is imported by the start, for that takes most of a second, in which process 1 of a container would be deaf.
const starting = import('./start.js').then(({ start }) => start());
onStopSignal(starting);
try {
  await starting;
} catch (error) {
  const { explainStartFailure } = await import('./platform/start-failure.js');
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exit(1);
}
