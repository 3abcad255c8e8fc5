const { default: Sequencer } = require('@jest/test-sequencer');

/** They wait for processes and timeouts, so they take long whatever the size of their file. */
const WAITING = /\/(?:newcomer|operations)\/|\/(?:connections|overload|order\.property)\.spec/;

/** Longest first. Before the first run Jest knows no times, and goes by the size of the file. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ duration, path }) => (duration === undefined && WAITING.test(path) ? 0 : 1);
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
};
