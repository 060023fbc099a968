#include "runtime/base/dim.h"
