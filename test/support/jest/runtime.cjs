const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

const GLOBALS = '@jest/globals/';

const modules = new Map();
const commonJs = new Map();
const sourceMaps = new Map();

/**
 * Loads the service once per worker, for all of its suites: it took longer to load than most suites take to run. The
 * modules of Jest itself, and all that import `@jest/globals`, are loaded anew for each suite. This uses private fields
 * of Jest, so an update of Jest may need a change here.
 */
module.exports = class SharedRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    const { watch, watchAll } = args.at(-1);
    // A watched file may have changed.
    if (watch || watchAll) for (const shared of [modules, commonJs]) shared.clear();
    this.registries.esModuleRegistry = modules;
    this.registries.moduleRegistry = commonJs;
    this.transformCache.sourceMaps = sourceMaps;
  }

  teardown() {
    this.restoreAllMocks();
    // The modules that it loaded live on, and may import others later.
    this.testState.enterTestCode();
    for (const key of modules.keys()) {
      if (!key.startsWith(GLOBALS)) continue;
      modules.delete(key);
      modules.delete(pathToFileURL(key.slice(GLOBALS.length)).href);
    }
    this.registries.internalModuleRegistry.clear();
  }
};
