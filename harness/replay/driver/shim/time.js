// What tells the time tells the virtual time: performance, Date, event time stamps, Intl and Temporal without a date, performance entries.
// Hard part: a page may wait by reading the clock in a loop, which would never end while time stands still; so after many reads
// in one task each further read counts a hundredth of a millisecond, for that task alone.
(kit, config) => {
  const FREE_READS = 5000;
  const READ_MS = 0.01;
  const { apply, construct } = kit;
  const reads = [0, 0];
  kit.taskBegins = () => {
    reads[0] = reads[1] = 0;
  };
  const now = () => {
    const count = ++reads[kit.phase];
    return count > FREE_READS ? kit.now + (count - FREE_READS) * READ_MS : kit.now;
  };
  kit.read = now;
  const { floor } = Math;
  const wallNow = () => floor(config.epoch + now());

  const check = Object.getOwnPropertyDescriptor(Performance.prototype, "timeOrigin").get;
  kit.replace(Performance.prototype, "now", () => ({
    now() {
      apply(check, this, []);
      return now();
    },
  }).now);
  kit.replaceGetter(Performance.prototype, "timeOrigin", (native) => ({
    get timeOrigin() {
      apply(native, this, []);
      return config.epoch;
    },
  }).__lookupGetter__("timeOrigin"));

  const NativeDate = Date;
  const VirtualDate = function Date(...parts) {
    if (new.target === undefined) return new NativeDate(wallNow()).toString();
    return parts.length === 0 ? construct(NativeDate, [wallNow()], new.target) : construct(NativeDate, parts, new.target);
  };
  for (const name of ["parse", "UTC"]) kit.defineProperty(VirtualDate, name, kit.getOwnPropertyDescriptor(NativeDate, name));
  kit.defineProperty(VirtualDate, "now", kit.getOwnPropertyDescriptor(NativeDate, "now"));
  kit.replace(VirtualDate, "now", () => ({
    now() {
      return wallNow();
    },
  }).now);
  kit.defineProperty(VirtualDate, "prototype", { value: NativeDate.prototype, writable: false });
  kit.disguise(VirtualDate, NativeDate);
  kit.defineProperty(NativeDate.prototype, "constructor", { value: VirtualDate, writable: true, configurable: true });
  kit.defineProperty(globalThis, "Date", { value: VirtualDate, writable: true, configurable: true });

  const stamps = kit.weak();
  kit.replaceGetter(Event.prototype, "timeStamp", (native) => ({
    get timeStamp() {
      apply(native, this, []);
      let stamp = stamps.get(this);
      if (stamp === undefined) stamps.set(this, (stamp = kit.now));
      return stamp;
    },
  }).__lookupGetter__("timeStamp"));
  kit.replaceGetter(globalThis.AnimationTimeline?.prototype, "currentTime", (native) => ({
    get currentTime() {
      apply(native, this, []);
      return kit.now;
    },
  }).__lookupGetter__("currentTime"));

  // Intl: the date that is left out is now.
  for (const name of ["format", "formatToParts"]) {
    kit.replace(Intl.DateTimeFormat.prototype, name, (native) => ({
      [name](date, ...rest) {
        return apply(native, this, [date === undefined ? wallNow() : date, ...rest]);
      },
    })[name]);
  }
  const bound = kit.weak();
  kit.replaceGetter(Intl.DateTimeFormat.prototype, "format", (native) => ({
    get format() {
      let format = bound.get(this);
      if (format === undefined) {
        const original = apply(native, this, []);
        format = kit.disguise((date) => original(date === undefined ? wallNow() : date), original);
        bound.set(this, format);
      }
      return format;
    },
  }).__lookupGetter__("format"));

  const instant = globalThis.Temporal?.Instant;
  if (instant) {
    const current = () => instant.fromEpochMilliseconds(wallNow());
    const zone = (given) => given ?? Temporal.Now.timeZoneId();
    const zoned = (given) => current().toZonedDateTimeISO(zone(given));
    const Now = Temporal.Now;
    kit.replace(Now, "instant", () => ({ instant() { return current(); } }).instant);
    kit.replace(Now, "zonedDateTimeISO", () => ({ zonedDateTimeISO(given) { return zoned(given); } }).zonedDateTimeISO);
    kit.replace(Now, "plainDateTimeISO", () => ({ plainDateTimeISO(given) { return zoned(given).toPlainDateTime(); } }).plainDateTimeISO);
    kit.replace(Now, "plainDateISO", () => ({ plainDateISO(given) { return zoned(given).toPlainDate(); } }).plainDateISO);
    kit.replace(Now, "plainTimeISO", () => ({ plainTimeISO(given) { return zoned(given).toPlainTime(); } }).plainTimeISO);
  }

  // Performance entries: what the page marks itself is in virtual time; what the browser measures of the host is not shown.
  const OWN = { __proto__: null, mark: true, measure: true };
  kit.replace(Performance.prototype, "mark", (native) => ({
    mark(name, options) {
      return apply(native, this, [name, { ...options, startTime: options?.startTime ?? now() }]);
    },
  }).mark);
  kit.replace(Performance.prototype, "measure", (native) => ({
    measure(name, start, end) {
      if (start !== null && typeof start === "object") {
        const given = start.end === undefined && start.duration === undefined ? { ...start, end: now() } : start;
        return apply(native, this, [name, given.start === undefined && given.duration === undefined ? { ...given, start: 0 } : given]);
      }
      return apply(native, this, [name, { start: start ?? 0, end: end ?? now() }]);
    },
  }).measure);
  const own = (entries) => {
    const kept = [];
    for (let i = 0; i < entries.length; i++) if (OWN[entries[i].entryType]) kept[kept.length] = entries[i];
    return kept;
  };
  for (const name of ["getEntries", "getEntriesByName", "getEntriesByType"]) {
    kit.replace(Performance.prototype, name, (native) => ({
      [name](...given) {
        return own(apply(native, this, given));
      },
    })[name]);
  }
  kit.replace(globalThis.PerformanceObserver?.prototype, "observe", (native) => ({
    observe(options) {
      const types = options?.entryTypes ?? [options?.type];
      const kept = [];
      for (let i = 0; i < types.length; i++) if (OWN[types[i]]) kept[kept.length] = types[i];
      if (kept.length > 0) apply(native, this, options?.entryTypes ? [{ entryTypes: kept }] : [options]);
    },
  }).observe);

  // What differs between hosts and is no time.
  const constant = (owner, name, value) => kit.replaceGetter(owner, name, (native) => ({
    get [name]() {
      apply(native, this, []);
      return value;
    },
  }).__lookupGetter__(name));
  constant(Navigator.prototype, "hardwareConcurrency", 4);
  constant(Navigator.prototype, "deviceMemory", 8);
  constant(Performance.prototype, "memory", undefined);
}
