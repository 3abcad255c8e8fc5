import type * as cliServices from '../boot/cli-services.js';

// Import the application only to run a command: it takes a second, and help or a mistyped command do not need it.
export async function withServices(...call: Parameters<typeof cliServices.withServices>): Promise<void> {
  return (await import('../boot/cli-services.js')).withServices(...call);
}
