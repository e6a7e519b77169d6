// What the engine's unused physics module gets instead of a physics library.
module.exports = {};
