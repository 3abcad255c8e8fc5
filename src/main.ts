import { onStopSignal } from './platform/shutdown.js';

// All else is imported by the start, for that takes most of a second, in which process 1 of a container would be deaf.
onStopSignal(import('./start.js').then(({ start }) => start()));
