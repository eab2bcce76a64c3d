/** The daemon's name in the address where `sluice dashboard` serves its page among others; undefined at the daemon itself. */
export const daemonName = /^\/daemons\/([^/]+)\/$/.exec(location.pathname)?.[1];
