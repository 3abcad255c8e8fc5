const { TestEnvironment } = require('jest-environment-node');

/** What Jest keeps in the global object for a suite: its timeout and its listeners. */
const OF_SUITE = [Symbol.for('TEST_TIMEOUT_SYMBOL'), Symbol.for('EVENT_HANDLERS')];

let shared;

/** One global object for all suites of a worker, because the modules that they share belong to it: see runtime.cjs. */
module.exports = class SharedEnvironment extends TestEnvironment {
  constructor(...args) {
    if (shared) return shared;
    super(...args);
    shared = this;
    this.exit = this.global.process.exit;
  }

  async teardown() {
    this.fakeTimersModern.useRealTimers();
    this.global.process.exit = this.exit;
    for (const symbol of OF_SUITE) delete this.global[symbol];
  }
};
