/** `sluice install systemd`: a unit for a daemon. It is printed: whoever installs it is root, and sees it first. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { catalogueOf, readConfig } from '../../config/read.ts';
import { tradingSchema } from '../../config/schema.ts';
import { home } from '../../config/shipped.ts';
import { Refusal } from '../../domain/refusal.ts';
import { shellWord as word } from '../../process/shell-word.ts';
import { stateRoot } from '../../session/state.ts';
import type { Output } from '../../terminal/output.ts';

export interface SystemdOptions extends Output {
  readonly config: string;
  readonly mode: 'live' | 'paper';
  readonly user: string;
  readonly state?: string;
  readonly secrets: string;
  /** Refuses paths that the unit cannot reach; tests have theirs in /tmp. */
  readonly refuse?: typeof refuseUnreachable;
}

export function installSystemd({
  config,
  mode,
  user,
  state = `/var/lib/sluice/${mode}`,
  secrets,
  refuse = refuseUnreachable,
  json,
  out,
  say,
}: SystemdOptions): void {
  const read = readConfig(config, tradingSchema);
  const recorded = read.record ? [catalogueOf(dirname(resolve(config)), read)] : [];
  const written = [resolve(state), ...recorded];
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(user)) throw new Refusal(`--user ${user} is not the name of a user`);
  const parts = {
    ...{ mode, user, secrets: resolve(secrets), state: resolve(state), written, config: resolve(config) },
    ...{ folder: process.cwd(), node: process.execPath, launcher: join(home(), 'bin', 'sluice.js') },
  };
  refuse(parts);
  const unit = unitText(parts);
  const name = mode === 'live' ? 'sluice' : `sluice-${mode}`;
  const [folder, keys] = [word(process.cwd()), word(resolve(secrets))];
  const closed = [join(process.cwd(), stateRoot), resolve(state)].map((path) => `-o -path ${word(path)}`).join(' ');
  const steps = [
    `id ${user} || useradd --system --home-dir /var/lib/sluice --create-home ${user}`,
    // systemd itself makes what lies below its StateDirectory.
    ...(isBelow(resolve(state), '/var/lib/sluice')
      ? []
      : [`install -d -o ${user} -g ${user} -m 700 ${word(resolve(state))}`]),
    ...recorded.map((path) => `test -d ${word(path)} || install -d -o ${user} -g ${user} -m 755 ${word(path)}`),
    // Neither keys nor a journal become readable for a group.
    `find ${folder} \\( -name '*.env' -o -name '.env*' ${closed} \\) -prune -o ! -type l -exec chgrp ${user} {} + -exec chmod g+rX {} +`,
    `test -e ${keys} || install -D -m 600 /dev/null ${keys}   # then put the keys in it: SLUICE_API_KEY=…`,
    `systemctl daemon-reload && systemctl enable --now ${name}`,
  ];
  if (json) {
    out(JSON.stringify({ version: 2, name: `${name}.service`, unit, steps }));
    return;
  }
  out(unit.trimEnd());
  say(`save it as /etc/systemd/system/${name}.service, then as root:`);
  for (const step of steps) say(`  ${step}`);
}

/** Paths are absolute. */
export interface UnitParts {
  readonly mode: string;
  readonly user: string;
  readonly secrets: string;
  readonly state: string;
  readonly config: string;
  /** What it may write. */
  readonly written: readonly string[];
  /** Working directory. */
  readonly folder: string;
  readonly node: string;
  readonly launcher: string;
}

/** Instead of these, `PrivateTmp=yes` shows the daemon empty folders. */
const isTemporary = (path: string): boolean => /^\/(var\/)?tmp\//.test(`${path}/`);

/** Whether a folder keeps a user from what is in it. */
type Look = (folder: string, user: string) => boolean;

/** Refuses a path that the daemon could not reach. The steps that are printed let its group into the folder of the project, but not into those above, nor into `var`. */
export function refuseUnreachable(
  {
    folder,
    user,
    ...others
  }: Pick<UnitParts, 'folder' | 'user' | 'config' | 'state' | 'written' | 'node' | 'launcher'>,
  isClosed: Look = isClosedTo,
): void {
  const { config, state, written, node, launcher } = others;
  for (const path of new Set([folder, config, state, ...written, node, launcher])) {
    if (isTemporary(path))
      throw new Refusal(
        `${path} is temporary: PrivateTmp=yes of the unit hides it, and a start of the machine empties it. Put it elsewhere, such as below /opt (docs/how-to/run-on-a-server.md)`,
      );
    const above = foldersAbove(path).filter((one) => !isBelow(one, folder) || isBelow(one, join(folder, stateRoot)));
    const closed = above.find((one) => isClosed(one, user));
    if (closed !== undefined)
      throw new Refusal(
        `the user ${user} cannot reach ${path}, because ${closed} is closed to it. Put it elsewhere, such as below /opt, or name another --user (docs/how-to/run-on-a-server.md)`,
      );
  }
}

const isBelow = (path: string, folder: string): boolean => `${path}/`.startsWith(`${folder}/`);

/** From the root on. */
function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [...foldersAbove(above), above];
}

/** Whether a user cannot enter a folder. One that is not there yet is made by the steps, or by the daemon. */
export function isClosedTo(folder: string, user: string): boolean {
  try {
    const { mode, uid, gid } = statSync(folder);
    const isOpen = (mode & 0o001) !== 0 || (uid === idsOf('-u', user)[0] && (mode & 0o100) !== 0);
    return !isOpen && ((mode & 0o010) === 0 || !idsOf('-G', user).includes(gid));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Its number, or those of its groups; none for a user that is not there yet. */
function idsOf(option: '-u' | '-G', user: string): readonly number[] {
  try {
    return execFileSync('id', [option, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}

/** Homes that `ProtectHome=yes` hides. */
const isInHome = (path: string): boolean => /^\/(home|root|run\/user)\//.test(`${path}/`);

/** A path in a unit: `%` begins a specifier there. */
function plain(path: string): string {
  if (/[\n\r"\\]/.test(path))
    throw new Refusal(
      `${JSON.stringify(path)} cannot be written into a unit: use a path without quotes, backslashes and line breaks`,
    );
  return path.replaceAll('%', '%%');
}
/** The same as an argument of a command. */
const argument = (path: string): string => `"${plain(path).replaceAll('$', '$$$$')}"`;

export function unitText({ mode, user, secrets, state, written, config, folder, node, launcher }: UnitParts): string {
  const command = [argument(node), argument(launcher), mode, '--config', argument(config), '--state', argument(state)];
  const seesHome = [folder, config, node, launcher, ...written].some(isInHome);
  return `# ${mode === 'live' ? 'Sluice' : 'Sluice on paper'} under systemd, made by sluice install systemd. Secrets are in ${plain(secrets)} (mode 600), not here.
[Unit]
Description=Sluice ${mode}
Wants=network-online.target
After=network-online.target time-sync.target
# Five failures in a quarter of an hour: somebody has to look.
StartLimitIntervalSec=15min
StartLimitBurst=5

[Service]
# The daemon says when trading has begun, and gives signs of life from its event loop, by systemd-notify.
Type=notify
NotifyAccess=all
# An exchange may be away for hours, and the start waits for it: the daemon extends this while its event loop runs.
TimeoutStartSec=300
WatchdogSec=60
User=${user}
WorkingDirectory=${plain(folder)}
EnvironmentFile=${plain(secrets)}
ExecStart=${command.join(' ')}
# Tighter limits hold at once; the log is opened again.
ExecReload=/bin/kill -HUP $MAINPID
# Finishes requests in flight, cancels resting orders.
TimeoutStopSec=45
KillMode=mixed
Restart=on-failure
RestartSec=10
# 2: the configuration is wrong. 3: a safety guard refuses. Both wait for a person.
RestartPreventExitStatus=2 3

UMask=0077
StateDirectory=sluice
StateDirectoryMode=0700
${written.map((path) => `ReadWritePaths="-${plain(path)}"`).join('\n')}
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=${seesHome ? 'read-only' : 'yes'}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
# MemoryDenyWriteExecute is left out: V8 compiles while it runs.
MemoryMax=1G
TasksMax=128

[Install]
WantedBy=multi-user.target
`;
}
