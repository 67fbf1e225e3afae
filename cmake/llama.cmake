# llama.cpp for kerf-llama-worker: the folder KERF_LLAMA_DIR (include/llama.h, lib/libllama*.so), else pkg-config's,
# else the one that tests/llama/fetch got, with which the worker is built for the tests and not installed. Without any
# of them the worker is left out.
#
# Sets LLAMA_FOUND, the target llama_library, and LLAMA_IS_FETCHED.
set(KERF_LLAMA_DIR "$ENV{KERF_LLAMA_DIR}" CACHE PATH "llama.cpp: a folder with include/llama.h and lib/libllama*.so")
set(fetched ${PROJECT_SOURCE_DIR}/tests/llama/node_modules/llama)
set(LLAMA_IS_FETCHED OFF)
set(llama_dir "${KERF_LLAMA_DIR}")
if(NOT llama_dir)
  pkg_check_modules(LLAMA IMPORTED_TARGET llama)
endif()
if(NOT llama_dir AND NOT LLAMA_FOUND AND EXISTS ${fetched}/package-lock.json)
  set(llama_dir ${fetched})
  set(LLAMA_IS_FETCHED ON)
endif()

add_library(llama_library INTERFACE)
if(llama_dir)
  # a build has libllama.so; prebuilt ones have their version within the name
  set(llama_files "")
  foreach(name llama ggml ggml-base)
    file(GLOB files ${llama_dir}/lib/lib${name}.so ${llama_dir}/lib/lib${name}.v*.so ${llama_dir}/lib/lib${name}.dylib)
    if(files)
      list(GET files 0 file)
      list(APPEND llama_files ${file})
    endif()
  endforeach()
  list(LENGTH llama_files count)
  if(NOT EXISTS ${llama_dir}/include/llama.h OR count LESS 3)
    message(FATAL_ERROR "KERF_LLAMA_DIR=${llama_dir}: include/llama.h or one of lib/libllama.so, libggml.so and "
                        "libggml-base.so is not there")
  endif()
  set(LLAMA_FOUND ON)
  set(LLAMA_INCLUDE_DIRS ${llama_dir}/include)
  target_include_directories(llama_library SYSTEM INTERFACE ${llama_dir}/include)
  target_link_libraries(llama_library INTERFACE ${llama_files})
  set(llama_libraries ${llama_dir}/lib)
elseif(LLAMA_FOUND)
  target_link_libraries(llama_library INTERFACE PkgConfig::LLAMA)
  pkg_get_variable(llama_libraries llama libdir)
else()
  message(STATUS "no llama.cpp (pkg-config llama, or KERF_LLAMA_DIR): kerf-llama-worker is left out")
endif()

if(LLAMA_FOUND)
  file(GLOB backends ${llama_libraries}/libggml-cpu*.so)
  if(backends) # they are opened at run time, from where they are; elsewhere libggml knows where
    target_compile_definitions(llama_library INTERFACE KERF_LLAMA_BACKENDS="${llama_libraries}")
  endif()
  # what not every release has
  include(CheckStructHasMember)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # headers are asked, nothing is linked
  set(CMAKE_REQUIRED_INCLUDES ${LLAMA_INCLUDE_DIRS})
  unset(LLAMA_HAS_LOAD_MODE CACHE) # as another folder may have been named
  unset(LLAMA_HAS_OUTPUTS_MAX CACHE)
  check_struct_has_member("struct llama_model_params" load_mode llama.h LLAMA_HAS_LOAD_MODE)
  check_struct_has_member("struct llama_context_params" n_outputs_max llama.h LLAMA_HAS_OUTPUTS_MAX)
  unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
  unset(CMAKE_REQUIRED_INCLUDES)
  foreach(have LOAD_MODE OUTPUTS_MAX)
    if(LLAMA_HAS_${have})
      target_compile_definitions(llama_library INTERFACE KERF_LLAMA_HAS_${have})
    endif()
  endforeach()
endif()
