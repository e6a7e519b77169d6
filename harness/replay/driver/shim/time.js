// What tells the time tells the virtual time: performance, Date, event time stamps, Intl and Temporal without a date, performance entries.
// Hard part: a page may wait by reading the clock in a loop, which would never end while time stands still; so after many reads
// in one task each further read counts a hundredth of a millisecond, for that task alone.
(kit, config) => {
  const FREE_READS = 5000;
  const READ_MS = 0.01;
  const { apply, construct } = kit;
  if (kit.first) {
    const reads = [0, 0];
    kit.taskBegins = () => {
      reads[0] = reads[1] = 0;
    };
    kit.read = () => {
      const count = ++reads[kit.phase];
      return count > FREE_READS ? kit.now + (count - FREE_READS) * READ_MS : kit.now;
    };
  }
  const now = kit.read;
  const born = kit.now - config.base; // a frame's own time begins with it
  kit.realm.born = born;
  const { floor } = Math;
  const wallNow = () => floor(config.epoch + now());

  const { performance } = globalThis;
  kit.replace(
    Performance.prototype,
    "now",
    (native) => {
      const { now: shown } = {
        now() {
          if (this !== performance) refuse(this);
          return now() - born;
        },
      };
      const refuse = kit.throwing(native, shown);
      return shown;
    },
    true,
  );
  kit.constant(Performance.prototype, "timeOrigin", config.epoch + born);
  for (const name of Object.getOwnPropertyNames(globalThis.PerformanceTiming?.prototype ?? {})) {
    kit.replaceGetter(PerformanceTiming.prototype, name, (native) => function () {
      return apply(native, this, []) === 0 ? 0 : config.epoch + born;
    });
  }
  const json = globalThis.PerformanceTiming?.prototype.toJSON;
  kit.replace(globalThis.PerformanceTiming?.prototype, "toJSON", () => ({
    toJSON() {
      const found = apply(json, this, []);
      for (const name in found) if (found[name] > 0) found[name] = config.epoch + born;
      return found;
    },
  }).toJSON);
  kit.replace(Performance.prototype, "toJSON", (native) => ({
    toJSON() {
      const found = apply(native, this, []);
      found.timeOrigin = config.epoch + born;
      return found;
    },
  }).toJSON);

  const NativeDate = Date;
  const VirtualDate = kit.replaceClass(globalThis, "Date", () => (given, target) => {
    if (target === undefined) return new NativeDate(wallNow()).toString();
    return construct(NativeDate, given.length === 0 ? [wallNow()] : given, target);
  });
  kit.replace(
    VirtualDate,
    "now",
    () => ({
      now() {
        return wallNow();
      },
    }).now,
    true,
  );

  const stamps = kit.weak();
  const stamped = (owner, name) =>
    kit.replaceGetter(owner, name, (native) => function () {
      apply(native, this, []);
      let stamp = stamps.get(this);
      if (stamp === undefined) stamps.set(this, (stamp = kit.now - born));
      return stamp;
    });
  stamped(Event.prototype, "timeStamp");
  stamped(globalThis.IntersectionObserverEntry?.prototype, "time");
  kit.replaceGetter(globalThis.AnimationTimeline?.prototype, "currentTime", (native) => function () {
    return apply(native, this, []) === null ? null : kit.now - born;
  });

  const dictionary = (value) => value === undefined || value === null || typeof value === "object" || typeof value === "function";

  // A document and a file that say no date of their own say now.
  const { slice } = String.prototype;
  const two = (number) => apply(slice, `0${number}`, [-2]);
  kit.replaceGetter(globalThis.Document?.prototype, "lastModified", (native) => function () {
    apply(native, this, []);
    const date = new NativeDate(config.epoch + born);
    return `${two(date.getMonth() + 1)}/${two(date.getDate())}/${date.getFullYear()} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  });
  kit.replaceClass(globalThis, "File", (native) => (given, target) => {
    if (target === undefined) return apply(native, undefined, given);
    const options = given[2];
    if (given.length >= 2 && dictionary(options) && (options?.lastModified === undefined)) {
      given[2] = { type: options?.type, endings: options?.endings, lastModified: wallNow() };
    }
    return construct(native, given, target);
  });

  // Intl: the date that is left out is now.
  kit.replace(Intl.DateTimeFormat.prototype, "formatToParts", (native) => ({
    formatToParts(date) {
      return apply(native, this, [date === undefined ? wallNow() : date]);
    },
  }).formatToParts);
  const bound = kit.weak();
  kit.replaceGetter(Intl.DateTimeFormat.prototype, "format", (native) => function () {
    const original = apply(native, this, []);
    let format = bound.get(original);
    if (format === undefined) {
      format = kit.disguise(kit.guarded((date) => original(date === undefined ? wallNow() : date)), original);
      bound.set(original, format);
    }
    return format;
  });

  const instant = globalThis.Temporal?.Instant;
  if (instant) {
    const current = () => instant.fromEpochMilliseconds(wallNow());
    const { Now } = Temporal;
    const { timeZoneId } = Now;
    const zoned = (native, given) => {
      if (given !== undefined) apply(native, Now, [given]); // its checks, its errors
      return current().toZonedDateTimeISO(given === undefined ? timeZoneId() : given);
    };
    kit.replace(Now, "instant", () => ({ instant() { return current(); } }).instant);
    kit.replace(Now, "zonedDateTimeISO", (native) => ({ zonedDateTimeISO(given) { return zoned(native, given); } }).zonedDateTimeISO);
    kit.replace(Now, "plainDateTimeISO", (native) => ({ plainDateTimeISO(given) { return zoned(native, given).toPlainDateTime(); } }).plainDateTimeISO);
    kit.replace(Now, "plainDateISO", (native) => ({ plainDateISO(given) { return zoned(native, given).toPlainDate(); } }).plainDateISO);
    kit.replace(Now, "plainTimeISO", (native) => ({ plainTimeISO(given) { return zoned(native, given).toPlainTime(); } }).plainTimeISO);
  }

  // Performance entries: what the page marks itself is in virtual time; what the browser measures of the host is not shown.
  const OWN = { __proto__: null, mark: true, measure: true };
  kit.replace(Performance.prototype, "mark", (native) => ({
    mark(...given) {
      const options = given[1];
      if (given.length > 0 && dictionary(options)) given[1] = { ...options, startTime: options?.startTime ?? now() - born };
      return apply(native, this, given);
    },
  }).mark);
  kit.replaceClass(globalThis, "PerformanceMark", (native) => (given, target) => {
    if (target === undefined) return apply(native, undefined, given);
    const options = given[1];
    if (given.length > 0 && dictionary(options)) given[1] = { ...options, startTime: options?.startTime ?? now() - born };
    return construct(native, given, target);
  });
  kit.replace(Performance.prototype, "measure", (native) => ({
    measure(...given) {
      const [name, start, end] = given;
      if (given.length === 0) return apply(native, this, given);
      if (!dictionary(start) || (end !== undefined && start === undefined)) {
        return apply(native, this, [name, { start: start === undefined ? 0 : `${start}`, end: end === undefined ? now() - born : `${end}` }]);
      }
      if (end !== undefined) return apply(native, this, given);
      const whole = start?.end === undefined && start?.duration === undefined ? { ...start, end: now() - born } : start;
      return apply(native, this, [name, whole.start === undefined && whole.duration === undefined ? { ...whole, start: 0 } : whole]);
    },
  }).measure);
  const own = (entries) => {
    const kept = [];
    for (let i = 0; i < entries.length; i++) {
      if (!OWN[entries[i].entryType]) continue;
      kit.defineProperty(kept, kept.length, { value: entries[i], writable: true, enumerable: true, configurable: true });
    }
    return kept;
  };
  for (const name of ["getEntries", "getEntriesByName", "getEntriesByType"]) {
    kit.replace(Performance.prototype, name, (native) => ({
      [name](...given) {
        return own(apply(native, this, given));
      },
    })[name]);
  }
  const hidden = { __proto__: null };
  for (const type of globalThis.PerformanceObserver?.supportedEntryTypes ?? []) hidden[type] = !OWN[type];
  kit.replace(globalThis.PerformanceObserver?.prototype, "observe", (native) => ({
    observe(...given) {
      const options = given[0];
      if (options === undefined || options === null || typeof options !== "object") return apply(native, this, given);
      const { type, entryTypes } = options;
      if (entryTypes === undefined) return hidden[type] ? undefined : apply(native, this, given);
      if (type !== undefined) return apply(native, this, given);
      const kept = [];
      if (typeof entryTypes !== "object") return apply(native, this, given);
      for (let i = 0; i < entryTypes.length; i++) if (OWN[entryTypes[i]]) kept[kept.length] = entryTypes[i];
      return kept.length > 0 || entryTypes.length === 0 ? apply(native, this, [{ entryTypes: kept }]) : undefined;
    },
  }).observe);

  // What differs between hosts and is no time.
  kit.constant((globalThis.Navigator ?? globalThis.WorkerNavigator).prototype, "hardwareConcurrency", 4);
  kit.constant((globalThis.Navigator ?? globalThis.WorkerNavigator).prototype, "deviceMemory", 8);
  for (const [name, value] of [["rtt", 0], ["downlink", 10], ["effectiveType", "4g"]]) {
    kit.constant(globalThis.NetworkInformation?.prototype, name, value);
  }
  const memory = globalThis.performance.memory && Object.getPrototypeOf(globalThis.performance.memory);
  for (const [name, value] of [["totalJSHeapSize", 1e7], ["usedJSHeapSize", 1e7], ["jsHeapSizeLimit", 2 ** 32 - 2 ** 28]]) {
    kit.constant(memory, name, value);
  }
}
